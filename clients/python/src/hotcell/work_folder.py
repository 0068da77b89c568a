"""A folder of this machine as a cell may have it: its regular files, which of them are executable, its empty folders.
Links, pipes, sockets and devices are left out: nothing of the host is reachable through them."""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from hotcell.failures import HotcellError
from hotcell.file_digests import FrozenFile, digest_of

# A file that changed so shortly before it was read may change again within the same tick of its file system's clock.
_tick_ns = 50_000_000


class FileState(NamedTuple):
    size: int
    mtime_ns: int
    ctime_ns: int
    inode: int
    executable: bool


class FolderBounds(NamedTuple):
    """The most that a policy lets a work folder hold."""

    files: int
    bytes: int
    policy: str


class WorkFolder(NamedTuple):
    root: Path
    files: dict[str, FileState]
    empty_folders: list[str]
    left_out: list[str]


def state_of(found: os.stat_result) -> FileState:
    executable = bool(found.st_mode & stat.S_IXUSR)
    return FileState(found.st_size, found.st_mtime_ns, found.st_ctime_ns, found.st_ino, executable)


def look_at(root: Path, bounds: FolderBounds) -> WorkFolder:
    seen = WorkFolder(root, {}, [], [])
    total = 0
    for path, entry in _entries(root.resolve(), "", seen):
        state = state_of(entry.stat(follow_symlinks=False))
        seen.files[path] = state
        total += state.size
        if len(seen.files) > bounds.files or total > bounds.bytes:
            raise _too_large(root, bounds)
    return seen


def _entries(folder: Path, prefix: str, seen: WorkFolder) -> Iterator[tuple[str, os.DirEntry[str]]]:
    with os.scandir(folder) as found:
        entries = sorted(found, key=lambda entry: entry.name)
    if not entries and prefix:
        seen.empty_folders.append(prefix[:-1])
    for entry in entries:
        path = f"{prefix}{entry.name}"
        if entry.is_dir(follow_symlinks=False):
            yield from _entries(Path(entry.path), f"{path}/", seen)
        elif entry.is_file(follow_symlinks=False) and _nameable(path):
            yield path, entry
        else:
            seen.left_out.append(path)


def _nameable(path: str) -> bool:
    return path.isprintable() and len(path.encode("utf-8", "surrogateescape")) <= 1000


def _too_large(root: Path, bounds: FolderBounds) -> HotcellError:
    sizes: list[tuple[int, str]] = []
    for folder, _, names in os.walk(root):
        for name in names:
            path = os.path.join(folder, name)
            sizes.append((os.lstat(path).st_size, os.path.relpath(path, root)))
        if len(sizes) > 100_000:
            break
    largest = ", ".join(f"{path} ({size} bytes)" for size, path in sorted(sizes, reverse=True)[:3])
    return HotcellError(
        "too_large",
        f"work_dir {root} holds {len(sizes)} files of {sum(size for size, _ in sizes)} bytes. The policy "
        f"{bounds.policy} lets a cell have {bounds.files} files of {bounds.bytes} bytes together.",
        hint=f"The largest are {largest}. Use a smaller work_dir, freeze large data as a snapshot and pass it as inputs, "
        "or choose a policy with larger limits.",
    )


class Digests:
    """The digests of files as long as nothing about them changes, so that an unchanged folder is not read again."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[FileState, str]] = {}

    def of(self, folder: WorkFolder, path: str) -> str:
        state = folder.files[path]
        known = self._known.get(path)
        if known is not None and known[0] == state:
            return known[1]
        began = time.time_ns()
        frozen = digest_of(path, folder.root / path)
        if state.ctime_ns < began - _tick_ns and frozen.size == state.size:
            self._known[path] = (state, frozen.sha256)
        return frozen.sha256

    def frozen(self, folder: WorkFolder, path: str) -> FrozenFile:
        return FrozenFile(path, folder.files[path].size, self.of(folder, path), folder.root / path)

    def keep_only(self, folder: WorkFolder) -> None:
        self._known = {path: known for path, known in self._known.items() if path in folder.files}
