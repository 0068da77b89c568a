import sqlite3

with sqlite3.connect("/work/some.db") as db:
    db.execute("pragma journal_mode=wal")
    db.execute("create table t (a integer primary key, b text)")
    db.executemany("insert into t (b) values (?)", [(str(i),) for i in range(1000)])
assert sqlite3.connect("/work/some.db").execute("select count(*) from t").fetchone() == (1000,)
