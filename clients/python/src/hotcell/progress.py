"""How far a run is, on one line of a terminal."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Optional


@contextmanager
def progress_of(run: str, wanted: Optional[bool]) -> Iterator[Callable[[str, str], None]]:
    stream = sys.stderr
    if wanted is False or (wanted is None and not (stream is not None and stream.isatty())):
        yield lambda *_: None
        return

    def show(status: str, reason: str) -> None:
        # One line, whatever the reason holds: no character of it moves the cursor.
        plain = "".join(c if c.isprintable() else " " for c in f"hotcell: {run[-8:]} {status} {reason}")[:100]
        stream.write(f"\r\x1b[K{plain}")
        stream.flush()

    try:
        yield show
    finally:
        stream.write("\r\x1b[K")
        stream.flush()
