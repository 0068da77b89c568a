"""Files and their digests. A file that changes while it is read is an error, not a mixture."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path
from typing import NamedTuple, Optional

from hotcell.failures import HotcellError


class FrozenFile(NamedTuple):
    path: str
    size: int
    sha256: str
    source: Path
    content: Optional[bytes] = None

    def read(self) -> bytes:
        if self.content is not None:
            return self.content
        # A link or a pipe may have replaced the file meanwhile.
        with os.fdopen(open_file(self.source), "rb") as file:
            return file.read()


def open_file(path: Path) -> int:
    try:
        return os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        raise HotcellError("invalid", f"{path} can't be read: {error.strerror}.", hint="Check its permissions.") from error


def digest_of(name: str, path: Path) -> FrozenFile:
    with os.fdopen(open_file(path), "rb") as file:
        before = os.fstat(file.fileno())
        seen = hashlib.sha256()
        size = 0
        while chunk := file.read(1 << 20):
            seen.update(chunk)
            size += len(chunk)
        after = os.fstat(file.fileno())
    if size != before.st_size or (before.st_mtime_ns, before.st_ctime_ns) != (after.st_mtime_ns, after.st_ctime_ns):
        raise HotcellError(
            "snapshot_refused", f"{path} changed while it was read.", hint="Try again when no program writes to it."
        )
    return FrozenFile(name, size, f"sha256:{seen.hexdigest()}", path)
