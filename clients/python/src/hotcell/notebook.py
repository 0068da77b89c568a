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
    if file.size > _largest or ending not in (*_pictures, "csv", "parquet"):
        return plain
    try:
        data = result.outputs.bytes(file.path)
    except HotcellError as error:
        return f"<div>{name}: {html.escape(error.message)}</div>"
    if ending in _pictures:
        source = f"data:image/{_pictures[ending]};base64,{base64.b64encode(data).decode()}"
        return f'<div>{name}<br><img alt="{name}" src="{source}"></div>'
    return plain + (_table(data) if ending == "csv" else _frame(data))


def _table(data: bytes) -> str:
    rows = csv.reader(io.StringIO(data.decode("utf-8", "replace")))
    try:
        shown = [row for row, _ in zip(rows, range(_rows_shown + 1))]
    except csv.Error:
        return ""
    cells = ["".join(f"<td>{html.escape(cell)}</td>" for cell in row) for row in shown]
    return f"<table>{''.join(f'<tr>{row}</tr>' for row in cells)}</table>"


def _frame(data: bytes) -> str:
    """Only where pandas is installed."""
    try:
        import pandas
    except ImportError:
        return ""
    try:
        return str(pandas.read_parquet(io.BytesIO(data)).head(_rows_shown).to_html())
    except Exception:
        # A job wrote the file: it need not be what its name says, and pandas raises many kinds of errors.
        return ""
