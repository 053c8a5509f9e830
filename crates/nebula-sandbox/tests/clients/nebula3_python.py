"""Drives the sandbox with an unmodified nebula3-python. Usage: nebula3_python.py PORT"""
import sys
import time

from nebula3.Config import Config
from nebula3.gclient.net import ConnectionPool

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


run("CREATE SPACE IF NOT EXISTS py(partition_num=5, replica_factor=1, vid_type=fixed_string(20))")
run("USE py", 10)
run("CREATE TAG IF NOT EXISTS person(name string, age int, born date); CREATE EDGE IF NOT EXISTS knows(since datetime)")
run('INSERT VERTEX person(name, age, born) VALUES "a":("Ann", 30, date("1990-05-06")), "b":("Bob", 31, NULL)', 10)
run('INSERT EDGE knows(since) VALUES "a"->"b"@3:(datetime("2010-01-02T03:04:05.678"))', 10)
rows = run('GO FROM "a" OVER knows YIELD $$.person.name AS name, knows.since AS since, dst(edge) AS d, rank(edge)')
assert rows.keys() == ["name", "since", "d", "rank(edge)"], rows.keys()
assert rows.row_values(0)[0].as_string() == "Bob"
assert rows.row_values(0)[1].as_datetime().get_year() == 2010
assert rows.row_values(0)[3].as_int() == 3
rows = run('FETCH PROP ON person "a" YIELD vertex AS v, person.born')
node = rows.row_values(0)[0].as_node()
assert node.get_id().as_string() == "a" and node.properties("person")["age"].as_int() == 30
rows = run('FETCH PROP ON knows "a"->"b"@3 YIELD edge AS e')
assert rows.row_values(0)[0].as_relationship().ranking() == 3
assert run("YIELD 1").row_values(0)[0].as_int() == 1
assert not session.execute("nonsense").is_succeeded()
assert session.execute("nonsense").error_code() == -1004
assert session.execute("GO FROM \"a\" OVER nope YIELD nope._dst").error_code() == -1009
node = run('MATCH (v:person)-[e:knows]->(w) WHERE id(v) == "a" RETURN w').row_values(0)[0].as_node()
assert node.get_id().as_string() == "b" and node.properties("person")["name"].as_string() == "Bob"
path = run('MATCH p = (v)-[:knows]->(w) WHERE id(v) == "a" RETURN p').row_values(0)[0].as_path()
assert path.length() == 1 and path.start_node().get_id().as_string() == "a"
back = run('MATCH (v)<-[e:knows]-(w) WHERE id(v) == "b" RETURN e').row_values(0)[0].as_relationship()
assert back.start_vertex_id().as_string() == "a" and back.end_vertex_id().as_string() == "b"
assert run('UPDATE VERTEX ON person "a" SET age = age + 1 YIELD age').row_values(0)[0].as_int() == 31
plan = run('PROFILE GO FROM "a" OVER knows YIELD dst(edge)').plan_desc()
names = [node.name.decode() for node in plan.plan_node_descs]
assert names[0] == "Project" and names[-1] == "Start" and plan.plan_node_descs[0].profiles[0].rows == 1, names
print(plan)
print(run("SHOW HOSTS"))
session.release()
pool.close()
print("passed")
