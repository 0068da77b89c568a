"""A folder of this machine as a cell may have it: its regular files, which of them are executable, its empty folders.
Links, pipes, sockets and devices are left out: nothing of the host is reachable through them. So is an installation."""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Literal, NamedTuple

from hotcell.failures import HotcellError
from hotcell.file_digests import FrozenFile, digest_of
from hotcell.staying import why_it_stays

# A file that changed so shortly before it was read may change again within the same tick of its file system's clock.
_tick_ns = 50_000_000


class FileState(NamedTuple):
    size: int
    mtime_ns: int
    ctime_ns: int
    inode: int
    executable: bool


class FolderBounds(NamedTuple):
    """The most that a policy lets a work folder hold: so many files, and as many empty folders. The other folders are
    bounded by their files and by the depth of a path."""

    files: int
    bytes: int
    policy: str


class WorkFolder(NamedTuple):
    root: Path
    files: dict[str, FileState]
    empty_folders: list[str]
    left_out: list[str]
    bounds: FolderBounds


class _Found(NamedTuple):
    path: str
    kind: Literal["file", "empty folder", "left out"]
    entry: os.DirEntry[str]


def state_of(found: os.stat_result) -> FileState:
    executable = bool(found.st_mode & stat.S_IXUSR)
    return FileState(found.st_size, found.st_mtime_ns, found.st_ctime_ns, found.st_ino, executable)


def look_at(root: Path, bounds: FolderBounds) -> WorkFolder:
    seen = WorkFolder(root, {}, [], [], bounds)
    total = 0
    for path, kind, entry in _walked(root):
        if kind == "left out":
            seen.left_out.append(path)
        elif kind == "empty folder":
            seen.empty_folders.append(path)
        else:
            seen.files[path] = state_of(entry.stat(follow_symlinks=False))
            total += seen.files[path].size
        if max(len(seen.files), len(seen.empty_folders)) > bounds.files or total > bounds.bytes:
            raise _too_large(root, bounds)
    return seen


def _walked(root: Path) -> Iterator[_Found]:
    """In the order of names. No deeper than a path may be, and without recursion: a job may have made the tree."""
    open_folders = [("", iter(_entries(root.resolve())))]
    while open_folders:
        entry = next(open_folders[-1][1], None)
        if entry is None:
            open_folders.pop()
            continue
        path = f"{open_folders[-1][0]}{entry.name}"
        if why_it_stays(path):
            yield _Found(path, "left out", entry)
        elif entry.is_dir(follow_symlinks=False):
            inner = _entries(entry.path)
            if inner:
                open_folders.append((f"{path}/", iter(inner)))
            else:
                yield _Found(path, "empty folder", entry)
        else:
            regular = entry.is_file(follow_symlinks=False) and path.isprintable()
            yield _Found(path, "file" if regular else "left out", entry)


def _entries(folder: Path | str) -> list[os.DirEntry[str]]:
    with os.scandir(folder) as found:
        return sorted(found, key=lambda entry: entry.name)


def _too_large(root: Path, bounds: FolderBounds) -> HotcellError:
    found = list(islice(_walked(root), 100_000))
    sizes = [(entry.stat(follow_symlinks=False).st_size, path) for path, kind, entry in found if kind == "file"]
    empty = sum(kind == "empty folder" for _, kind, _ in found)
    largest = ", ".join(f"{path} ({size} bytes)" for size, path in sorted(sizes, reverse=True)[:3])
    return HotcellError(
        "too_large",
        f"work_dir {root} holds {len(sizes)} files of {sum(size for size, _ in sizes)} bytes and {empty} empty folders. "
        f"The policy {bounds.policy} lets a cell have {bounds.files} files of {bounds.bytes} bytes together, and as many "
        "empty folders.",
        hint=f"{f'The largest are {largest}. ' if largest else ''}Use a smaller work_dir, freeze large data as a snapshot "
        "and pass it as inputs, or choose a policy with larger limits.",
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
