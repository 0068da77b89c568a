"""Describes tables in two snapshots: rows, columns, types and numeric totals, in one pass over each file."""
import json
import os

import duckdb

MOST_COLUMNS = 200
NUMERIC = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT", "UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT",
           "UHUGEINT", "FLOAT", "DOUBLE", "DECIMAL")


def quoted(name):
    return '"' + name.replace('"', '""') + '"'


def describe(connection, path, index):
    # A name may hold what the reader takes for a pattern.
    table = f"/tmp/table{index}" + "".join(os.path.splitext(path.lower().removesuffix(".gz"))[1:])
    table += ".gz" if path.lower().endswith(".gz") else ""
    os.symlink(path, table)
    reader = "read_parquet" if table.endswith(".parquet") else "read_csv"
    source = f"{reader}('{table}')"
    columns = [(row[0], row[1]) for row in connection.execute(f"DESCRIBE SELECT * FROM {source}").fetchall()]
    shown = columns[:MOST_COLUMNS]
    sums = [f"sum({quoted(name)})::VARCHAR" if kind.startswith(NUMERIC) else "NULL" for name, kind in shown]
    rows, *totals = connection.execute(f"SELECT count(*), {', '.join(sums)} FROM {source}").fetchone()
    return {
        "rows": rows,
        "columns": [
            {"name": name[:200], "type": kind[:100], "total": total}
            for (name, kind), total in zip(shown, totals)
        ],
        "more": len(columns) - len(shown),
    }


with open("/inputs/params.json") as file:
    asked = json.load(file)["tables"]
connection = duckdb.connect(config={"temp_directory": "/tmp/duckdb"})
found = []
for index, (side, path) in enumerate(asked):
    try:
        found.append({"side": side, "path": path, **describe(connection, f"/inputs/{side}/{path}", index)})
    except Exception as error:
        found.append({"side": side, "path": path, "problem": str(error).split("\n")[0][:300]})
with open("/outputs/tables.json", "w") as file:
    json.dump(found, file)
