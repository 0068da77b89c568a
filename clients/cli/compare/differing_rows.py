"""Finds the first rows in which tables of two snapshots differ, by their place in the file."""
import json
import os

import duckdb

MOST_ROWS = 5
MOST_COLUMNS = 50
MOST_TEXT = 200


def quoted(name):
    return '"' + name.replace('"', '""') + '"'


def linked(path, name):
    # A name may hold what the reader takes for a pattern.
    bare = path.lower().removesuffix(".gz")
    link = f"/tmp/{name}{os.path.splitext(bare)[1]}{'.gz' if path.lower().endswith('.gz') else ''}"
    os.symlink(path, link)
    return link


def source(link):
    # As text: two files may look like different types, and what differs is what is written there.
    return f"read_parquet('{link}')" if link.endswith(".parquet") else f"read_csv('{link}', all_varchar = true)"


def columns(connection, table):
    return [row[0] for row in connection.execute(f"DESCRIBE SELECT * FROM {table}").fetchall()]


def cut(values):
    return None if values is None else [None if value is None else value[:MOST_TEXT] for value in values]


def differing(connection, path, index):
    before, after = (source(linked(f"/inputs/{side}/{path}", f"{side}{index}")) for side in ("before", "after"))
    names, others = columns(connection, before), columns(connection, after)
    counts = [connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0] for table in (before, after)]
    found = {"path": path, "rows": counts, "columns": [name[:MOST_TEXT] for name in names[:MOST_COLUMNS]]}
    if names != others:
        return {**found, "others": [name[:MOST_TEXT] for name in others[:MOST_COLUMNS]], "first": []}
    texts = ", ".join(f"{quoted(name)}::VARCHAR AS {quoted(name)}" for name in names)
    numbered = "SELECT row_number() OVER () AS __row, * FROM (SELECT {} FROM {})"
    unequal = " OR ".join(f"a.{quoted(name)} IS DISTINCT FROM b.{quoted(name)}" for name in names)
    shown = [quoted(name) for name in names[:MOST_COLUMNS]]
    rows = connection.execute(
        f"SELECT a.__row, b.__row, {', '.join([f'a.{name}' for name in shown] + [f'b.{name}' for name in shown])}"
        f" FROM ({numbered.format(texts, before)}) a FULL OUTER JOIN ({numbered.format(texts, after)}) b"
        f" ON a.__row = b.__row WHERE a.__row IS NULL OR b.__row IS NULL OR {unequal}"
        f" ORDER BY coalesce(a.__row, b.__row) LIMIT {MOST_ROWS}"
    ).fetchall()
    width = len(shown)
    first = []
    for row_before, row_after, *values in rows:
        first.append({
            "row": row_before or row_after,
            "before": cut(values[:width]) if row_before else None,
            "after": cut(values[width:]) if row_after else None,
        })
    return {**found, "first": first}


with open("/inputs/params.json") as file:
    asked = json.load(file)["tables"]
connection = duckdb.connect(config={"temp_directory": "/tmp/duckdb"})
found = []
for index, path in enumerate(asked):
    try:
        found.append(differing(connection, path, index))
    except Exception as error:
        found.append({"path": path, "problem": str(error).split("\n")[0][:300]})
with open("/outputs/tables.json", "w") as file:
    json.dump(found, file)
