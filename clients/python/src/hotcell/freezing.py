"""Snapshots of local folders, files and DataFrames: announced, sent as far as the API lacks them, and created."""

from __future__ import annotations

import os
import re
import stat
import tempfile
from collections.abc import Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Optional

from hotcell.calls import Calls, posted
from hotcell.failures import HotcellError
from hotcell.file_digests import FrozenFile, digest_of
from hotcell.staying import is_installation
from hotcell.wire import Asked

if TYPE_CHECKING:
    from hotcell.snapshot_answers import CreatedSnapshot

# Sources that the API reads by itself.
_remote = re.compile(r"^(s3://|sha256:[0-9a-f]{64}$|[0-9a-f-]{36}:outputs$)")
_longest_freeze = 600.0


def is_frame(source: Any) -> bool:
    return hasattr(source, "to_parquet") or hasattr(source, "write_parquet")


def is_local(source: Any) -> bool:
    return isinstance(source, os.PathLike) or is_frame(source)


async def freeze(calls: Calls, source: Any, name: Optional[str]) -> CreatedSnapshot:
    from hotcell.snapshot_answers import CreatedSnapshot

    if is_frame(source):
        with tempfile.TemporaryDirectory(prefix="hotcell-") as folder:
            await calls.wire.offload(_write_frame, source, f"{folder}/data.parquet")
            return await freeze(calls, Path(folder), name)
    if isinstance(source, str) and _remote.match(source):
        asked: dict[str, Any] = {"source": source, **({"name": name} if name else {})}
        return await calls.read(CreatedSnapshot, posted("/v1/snapshots", asked, timeout=_longest_freeze))
    files = await calls.wire.offload(_frozen, Path(source))
    return await upload(calls, files, name)


async def upload(calls: Calls, files: Sequence[FrozenFile], name: Optional[str] = None) -> CreatedSnapshot:
    from hotcell.snapshot_answers import CreatedSnapshot, Upload

    entries = [{"path": file.path, "size": file.size, "sha256": file.sha256} for file in files]
    # To begin again with the same files goes on where the last upload was interrupted.
    begun = await calls.read(Upload, posted("/v1/uploads", {"files": entries}))
    by_digest = {file.sha256: file for file in files}
    sends = [partial(_send, calls, begun.upload, by_digest[digest]) for digest in begun.missing]
    await calls.wire.together(sends)
    ended = {"upload": begun.upload, "files": entries, **({"name": name} if name else {})}
    return await calls.read(CreatedSnapshot, posted("/v1/snapshots", ended, timeout=_longest_freeze))


async def _send(calls: Calls, begun: str, file: FrozenFile) -> None:
    content = await calls.wire.offload(file.read)
    headers = {"content-type": "application/octet-stream"}
    # The API compares the bytes with the digest, so to send them twice does no harm.
    await calls.ask(Asked("PUT", f"/v1/uploads/{begun}/{file.sha256}", headers=headers, body=content), again=True)


def _write_frame(frame: Any, path: str) -> None:
    if hasattr(frame, "to_parquet"):
        frame.to_parquet(path)
    else:
        frame.write_parquet(path)


def _frozen(source: Path) -> list[FrozenFile]:
    try:
        state = source.stat()
    except OSError as error:
        raise HotcellError("invalid", f"{source} can't be read: {error.strerror}.", hint="Check the path.") from error
    if not stat.S_ISDIR(state.st_mode):
        return [digest_of(source.name, source.resolve())]
    files = [digest_of(path.relative_to(source).as_posix(), path) for path in _walked(source)]
    if not files:
        raise HotcellError("snapshot_refused", f"{source} contains no files.", hint="Name a folder with files.")
    return files


def _walked(folder: Path) -> Iterable[Path]:
    """One entry that a snapshot can't hold refuses the whole folder: links lead elsewhere, pipes have no bytes."""
    for entry in sorted(os.scandir(folder), key=lambda one: one.name):
        if is_installation(entry.name):
            continue
        path = Path(entry.path)
        if entry.is_dir(follow_symlinks=False):
            yield from _walked(path)
        elif entry.is_file(follow_symlinks=False):
            yield path
        else:
            what = "a link; replace it with what it leads to" if entry.is_symlink() else "not a regular file; remove it"
            raise HotcellError("snapshot_refused", f"{path} is {what}.")
