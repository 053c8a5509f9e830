#!/bin/sh
# Starts influxd; on the first start creates the admin of INFLUXDB_ADMIN_USER/_PASSWORD and the database INFLUXDB_DB.
set -eu

query() { influx -host 127.0.0.1 "$@"; }

first_start() {
  until wget -q -O /dev/null http://127.0.0.1:8086/ping; do sleep 0.2; done
  if [ -n "${INFLUXDB_ADMIN_USER:-}" ]; then
    query -execute "CREATE USER \"$INFLUXDB_ADMIN_USER\" WITH PASSWORD '$INFLUXDB_ADMIN_PASSWORD' WITH ALL PRIVILEGES"
    export INFLUX_USERNAME="$INFLUXDB_ADMIN_USER" INFLUX_PASSWORD="$INFLUXDB_ADMIN_PASSWORD"
  fi
  if [ -n "${INFLUXDB_DB:-}" ]; then query -execute "CREATE DATABASE \"$INFLUXDB_DB\""; fi
}

case ${1:-} in -*) set -- influxd "$@" ;; esac
if [ "${1:-}" = influxd ] && [ ! -e /var/lib/influxdb/meta/meta.db ]; then first_start & fi
exec "$@"
