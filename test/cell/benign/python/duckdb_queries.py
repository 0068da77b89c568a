import duckdb

with duckdb.connect("/work/some.duckdb") as db:
    db.execute("create table t as select range as a from range(100000)")
    assert db.execute("select sum(a) from t where a % 2 = 0").fetchone() == (2499950000,)
