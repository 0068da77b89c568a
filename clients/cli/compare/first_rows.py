"""Shows the first rows of tables that a run left, as text."""
import json
import os

import duckdb

MOST_ROWS = 20
MOST_COLUMNS = 30
MOST_TEXT = 200


def quoted(name):
    return '"' + name.replace('"', '""') + '"'


def first_rows(connection, path, index):
    # A name may hold what the reader takes for a pattern.
    is_parquet = path.lower().endswith(".parquet")
    link = f"/tmp/table{index}" + (".parquet" if is_parquet else ".csv.gz")
    os.symlink(f"/inputs/outputs/{path}", link)
    source = f"read_parquet('{link}')" if is_parquet else f"read_csv('{link}', all_varchar = true)"
    names = [row[0] for row in connection.execute(f"DESCRIBE SELECT * FROM {source}").fetchall()][:MOST_COLUMNS]
    texts = ", ".join(f"{quoted(name)}::VARCHAR" for name in names)
    rows = connection.execute(f"SELECT {texts} FROM {source} LIMIT {MOST_ROWS + 1}").fetchall()
    return {
        "columns": [name[:MOST_TEXT] for name in names],
        "rows": [["" if value is None else value[:MOST_TEXT] for value in row] for row in rows[:MOST_ROWS]],
        "more": len(rows) > MOST_ROWS,
    }


with open("/inputs/params.json") as file:
    asked = json.load(file)["tables"]
connection = duckdb.connect(config={"temp_directory": "/tmp/duckdb"})
found = []
for index, path in enumerate(asked):
    try:
        found.append({"path": path, **first_rows(connection, path, index)})
    except Exception as error:
        found.append({"path": path, "problem": str(error).split("\n")[0][:300]})
with open("/outputs/tables.json", "w") as file:
    json.dump(found, file)
