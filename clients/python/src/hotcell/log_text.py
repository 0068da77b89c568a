"""What a run wrote: rows put together, then decoded, because a row may end within a character."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING, Optional

if TYPE_CHECKING:
    from hotcell.run_answers import LogRow, RunEventLog


def bytes_of(row: LogRow | RunEventLog) -> bytes:
    if row.dropped:
        return f"\n[{row.dropped} bytes are left out here: the log reached its limit]\n".encode()
    return base64.b64decode(row.base64) if row.base64 is not None else (row.text or "").encode()


class LogText:
    def __init__(self) -> None:
        self._rows: list[tuple[int, str, bytes]] = []

    def add(self, row: LogRow | RunEventLog) -> None:
        self._rows.append((row.block, row.stream, bytes_of(row)))

    def text(self, stream: Optional[str] = None, first_block: int = 0) -> str:
        """Bytes that are not UTF-8 are replaced, as a terminal would show them."""
        parts = [part for block, of, part in self._rows if block >= first_block and stream in (None, of)]
        return b"".join(parts).decode("utf-8", "replace")
