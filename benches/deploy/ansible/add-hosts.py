"""add-hosts.py ADDRESSES FILE: adds the storageds (port 9779) and waits until all are ONLINE; writes into FILE how many
seconds that took from the first statement that was answered."""
import sys
import time

from nebula3.Config import Config
from nebula3.gclient.net import ConnectionPool

addresses, file = sys.argv[1].split(","), sys.argv[2]
end = time.monotonic() + 120


def session():
    """graphd answers a login only once it has reached metad."""
    while True:
        pool = ConnectionPool()
        try:
            pool.init([(addresses[0], 9669)], Config())
            return pool.get_session("root", "nebula")
        except Exception:
            if time.monotonic() > end:
                raise
            time.sleep(0.05)


def online():
    rows = client.execute("SHOW HOSTS").rows()
    states = [(row.values[0].value, row.values[2].value) for row in rows]
    return sum(1 for host, state in states if state == b"ONLINE" and host.decode() in addresses)


began = time.monotonic()
client = session()
if online() < len(addresses):
    for address in addresses:
        client.execute("ADD HOSTS " + address + ":9779")
    while online() < len(addresses) and time.monotonic() < end:
        time.sleep(0.05)
with open(file, "w", encoding="utf-8") as waited:
    waited.write(f"{time.monotonic() - began:.3f}\n")
sys.exit(0 if online() == len(addresses) else "not all storaged are ONLINE")
