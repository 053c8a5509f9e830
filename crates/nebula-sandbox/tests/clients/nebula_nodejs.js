// Drives the sandbox with an unmodified @nebula-contrib/nebula-nodejs. Usage: nebula_nodejs.js PORT SPACE
const { createClient } = require('@nebula-contrib/nebula-nodejs')

const client = createClient({
  servers: [`127.0.0.1:${process.argv[2]}`],
  userName: 'root',
  password: 'nebula',
  space: process.argv[3],
  poolSize: 2,
  bufferSize: 100,
  executeTimeout: 15000,
  pingInterval: 3000
})

async function main () {
  const rows = await client.execute('GO FROM 1 OVER E YIELD E.w AS w, dst(edge) AS d', false)
  if (rows.error_code !== 0 || String(rows.data.w[0]) !== '7' || String(rows.data.d[0]) !== '2') {
    throw new Error(JSON.stringify(rows))
  }
  const one = await client.execute('YIELD 1')
  if (one.error_code !== 0) throw new Error(JSON.stringify(one))
  console.log('passed')
  process.exit(0)
}

setTimeout(() => { console.error('timed out'); process.exit(1) }, 20000)
main().catch(error => { console.error(error); process.exit(1) })
