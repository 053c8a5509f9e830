"""An unmodified nebula3-python over TLS. Usage: nebula3_tls.py PORT CA"""
import ssl
import sys

from nebula3.Config import Config, SSL_config
from nebula3.gclient.net import ConnectionPool

secure = SSL_config()
secure.ca_certs = sys.argv[2]
secure.cert_reqs = ssl.CERT_REQUIRED
pool = ConnectionPool()
assert pool.init([("127.0.0.1", int(sys.argv[1]))], Config(), secure)
session = pool.get_session("root", "nebula")
assert session.execute("YIELD 1").row_values(0)[0].as_int() == 1
text = "x" * 1_000_000
assert session.execute(f'YIELD "{text}"').row_values(0)[0].as_string() == text
session.release()
pool.close()
print("passed")
