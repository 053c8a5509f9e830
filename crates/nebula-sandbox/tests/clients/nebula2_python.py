"""Drives the sandbox with an unmodified nebula2-python. Usage: nebula2_python.py PORT"""
import sys
import time

from nebula2.Config import Config
from nebula2.gclient.net import ConnectionPool

pool = ConnectionPool()
assert pool.init([("127.0.0.1", int(sys.argv[1]))], Config())
session = pool.get_session("root", "nebula")


def run(statement, patience=0):
    deadline = time.time() + patience
    while True:
        result = session.execute(statement)
        if result.is_succeeded() or time.time() > deadline:
            break
        time.sleep(0.1)
    assert result.is_succeeded(), (statement, result.error_code(), result.error_msg())
    return result


run("CREATE SPACE IF NOT EXISTS py(partition_num=5, replica_factor=1, vid_type=int64)")
run("USE py", 10)
run("CREATE TAG IF NOT EXISTS person(name string, age int); CREATE EDGE IF NOT EXISTS knows(since datetime)")
run('INSERT VERTEX person(name, age) VALUES 1:("Ann", 30), 2:("Bob", 31)', 10)
run('INSERT EDGE knows(since) VALUES 1->2:(datetime("2010-01-02T03:04:05.678"))', 10)
rows = run("GO FROM 1 OVER knows")
assert rows.keys() == ["knows._dst"], rows.keys()
assert rows.row_values(0)[0].as_int() == 2
rows = run("FETCH PROP ON person 1 YIELD person.name")
assert rows.keys() == ["VertexID", "person.name"], rows.keys()
assert rows.row_values(0)[1].as_string() == "Ann"
rows = run("FETCH PROP ON knows 1->2 YIELD knows.since")
assert rows.keys() == ["knows._src", "knows._dst", "knows._rank", "knows.since"], rows.keys()
rows = run("FETCH PROP ON person 1")
assert rows.keys() == ["vertices_"], rows.keys()
assert rows.latency() >= 0
node = run("MATCH (v)-[:knows]->(w) WHERE id(v) == 1 RETURN w").row_values(0)[0].as_node()
assert node.get_id().as_int() == 2 if hasattr(node.get_id(), "as_int") else node.get_id() == 2
assert run("UPDATE VERTEX ON person 1 SET age = age + 1 YIELD age").row_values(0)[0].as_int() == 31
bad = session.execute("nonsense")
assert not bad.is_succeeded()
print("syntax error code", bad.error_code())
hosts = run("SHOW HOSTS")
assert "Version" not in hosts.keys()
session.release()
pool.close()
print("passed")
