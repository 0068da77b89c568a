"""How a work folder travels into a cell: a snapshot of most of it, which stays the same from call to call, and what has
changed since, beside the code. An unchanged folder costs no upload."""

from __future__ import annotations

import hashlib
import io
import tarfile
from typing import NamedTuple, Optional

from hotcell.calls import Calls
from hotcell.file_digests import FrozenFile
from hotcell.freezing import upload
from hotcell.work_folder import Digests, WorkFolder

# More than this goes into a new snapshot.
_most_changed_bytes = 256 * 1024
_most_changed_files = 100
# Fewer and smaller files come back sooner than they are compared.
_few_files = 32
_small_bytes = 256 * 1024


class Luggage(NamedTuple):
    # What the cell is given, by path.
    sent: dict[str, str]
    snapshot: Optional[str]
    # For the open script: an archive, and lists of paths, each ended by NUL.
    changed: Optional[bytes]
    gone: bytes
    executable: bytes
    # What a cell compares its files with, to leave out those that are the same; empty for a small folder.
    same: bytes


class Base(NamedTuple):
    snapshot: Optional[str]
    files: dict[str, str]


class Packer:
    """Packs one folder, again and again."""

    def __init__(self) -> None:
        self._digests = Digests()
        self._base = Base(None, {})

    async def pack(self, calls: Calls, folder: WorkFolder) -> Luggage:
        sent = {path: self._digests.of(folder, path) for path in folder.files}
        self._digests.keep_only(folder)
        if not self._is_small(folder, self._changed(sent)):
            frozen = [self._digests.frozen(folder, path) for path in folder.files]
            self._base = Base((await upload(calls, frozen)).id, {file.path: file.sha256 for file in frozen})
            sent = dict(self._base.files)
        changed = self._changed(sent)
        archive, sent_now = _archive(folder, changed)
        sent.update(sent_now)
        return Luggage(
            sent=sent,
            snapshot=self._base.snapshot,
            changed=archive,
            gone=_list([path for path in self._base.files if path not in sent]),
            executable=_list([path for path, state in folder.files.items() if state.executable and path not in changed]),
            same=_sums(sent) if len(sent) > _few_files or any(s.size > _small_bytes for s in folder.files.values()) else b"",
        )

    def forget(self) -> None:
        """The snapshot may be gone from the record."""
        self._base = Base(None, {})

    def _changed(self, sent: dict[str, str]) -> list[str]:
        return [path for path, digest in sent.items() if self._base.files.get(path) != digest]

    @staticmethod
    def _is_small(folder: WorkFolder, changed: list[str]) -> bool:
        sizes = [folder.files[path].size for path in changed]
        return len(sizes) <= _most_changed_files and sum(sizes) <= _most_changed_bytes


def _list(paths: list[str]) -> bytes:
    return b"".join(path.encode("utf-8", "surrogateescape") + b"\0" for path in paths)


def _sums(sent: dict[str, str]) -> bytes:
    """As `sha256sum -z | sort -z` prints them."""
    return b"".join(sorted(f"{digest.removeprefix('sha256:')}  {path}\0".encode() for path, digest in sent.items()))


def _archive(folder: WorkFolder, changed: list[str]) -> tuple[Optional[bytes], dict[str, str]]:
    """With the digests of what really is in it: a file may change once more before it is packed."""
    if not changed and not folder.empty_folders:
        return None, {}
    held = io.BytesIO()
    digests: dict[str, str] = {}
    with tarfile.open(fileobj=held, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for path in folder.empty_folders:
            entry = tarfile.TarInfo(path)
            entry.type, entry.mode = tarfile.DIRTYPE, 0o755
            archive.addfile(entry)
        for path in changed:
            content = FrozenFile(path, 0, "", folder.root / path).read()
            entry = tarfile.TarInfo(path)
            entry.size, entry.mode = len(content), 0o755 if folder.files[path].executable else 0o644
            entry.mtime = folder.files[path].mtime_ns // 10**9
            archive.addfile(entry, io.BytesIO(content))
            digests[path] = f"sha256:{hashlib.sha256(content).hexdigest()}"
    return held.getvalue(), digests

