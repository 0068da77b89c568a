"""A result as a page of a notebook. A job wrote what it shows, so everything is escaped, and pictures are only pictures."""

from __future__ import annotations

import base64
import csv
import html
import io
from typing import TYPE_CHECKING

from hotcell.failures import HotcellError

if TYPE_CHECKING:
    from hotcell.finished import Result
    from hotcell.run_answers import RunOutputsFile

# As an image, an SVG runs no scripts.
_pictures = {"png": "png", "jpg": "jpeg", "jpeg": "jpeg", "gif": "gif", "webp": "webp", "svg": "svg+xml"}
_largest = 4 * 1024 * 1024
_most_shown = 8
_log_shown = 20_000
_rows_shown = 10
_cells_shown = 50
_cell_shown = 200
_table_read = 64 * 1024


def page_of(result: Result) -> str:
    head = f"<b>{html.escape(result.outcome)}</b> {html.escape(result.reason)} <code>{html.escape(result.run)}</code>"
    log = result.log
    left_out = len(log) - _log_shown
    shown = log if left_out <= 0 else f"{log[: _log_shown // 2]}\n… {left_out} characters …\n{log[-_log_shown // 2 :]}"
    parts = [f"<div>{head}</div>", f"<pre>{html.escape(shown)}</pre>" if shown else ""]
    parts += [_output(result, file) for file in list(result.outputs)[:_most_shown]]
    if len(result.outputs) > _most_shown:
        parts.append(f"<div>and {len(result.outputs) - _most_shown} more outputs</div>")
    return "".join(parts)


def _output(result: Result, file: RunOutputsFile) -> str:
    name = html.escape(file.path)
    plain = f"<div>{name}, {file.size} bytes</div>"
    ending = file.path.rpartition(".")[2].lower()
    if ending == "parquet":
        return plain + _how_to_read(result, file.path)
    if file.size > _largest or ending not in (*_pictures, "csv"):
        return plain
    try:
        data = result.outputs.bytes(file.path)
    except HotcellError as error:
        return f"<div>{name}: {html.escape(error.message)}</div>"
    if ending in _pictures:
        source = f"data:image/{_pictures[ending]};base64,{base64.b64encode(data).decode()}"
        return f'<div>{name}<br><img alt="{name}" src="{source}"></div>'
    return plain + table_of(data)


def table_of(data: bytes) -> str:
    text = data[:_table_read].decode("utf-8", "replace")
    if len(data) > _table_read:
        # The last line that was read may be half a line.
        text = text.rpartition("\n")[0] or text
    rows = csv.reader(io.StringIO(text))
    try:
        shown = [row for row, _ in zip(rows, range(_rows_shown + 1))]
    except csv.Error:
        return ""
    return f"<table>{''.join(f'<tr>{_cells(row)}</tr>' for row in shown)}</table>"


def _cells(row: list[str]) -> str:
    shown = [cell if len(cell) <= _cell_shown else f"{cell[:_cell_shown]}…" for cell in row[:_cells_shown]]
    more = ["…"] if len(row) > _cells_shown else []
    return "".join(f"<td>{html.escape(cell)}</td>" for cell in [*shown, *more])


def _how_to_read(result: Result, path: str) -> str:
    """Parsers of Parquet are native code, and a job wrote the file: it is not opened on the caller's machine."""
    inputs = html.escape(f'inputs={{"run": "{result.run}:outputs"}}')
    code = html.escape(f"polars.read_parquet({f'/inputs/run/{path}'!r})")
    return f"<div>Not opened here. Read it in a run of its own with <code>{inputs}</code>: <code>{code}</code></div>"
