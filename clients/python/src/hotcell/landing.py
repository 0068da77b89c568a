"""Writing files that a job named into a folder of this machine. No link is followed and no name leads out of it: each
part of a path is opened by itself, from the folder before it."""

from __future__ import annotations

import errno
import hashlib
import os
import secrets
import stat
from collections.abc import AsyncIterable, AsyncIterator, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Optional

from hotcell.failures import DamagedOutput, HotcellError
from hotcell.staying import is_installation
from hotcell.wire import drive

_folder_flags = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


def parts_of(path: str) -> list[str]:
    parts = path.split("/")
    if path.startswith("/") or "\0" in path or any(part in ("", ".", "..") for part in parts):
        raise HotcellError("invalid", f"{path!r} is not a plain relative path, and is not written.")
    if is_installation(path):
        # A job that writes an installation's settings chooses where the caller's next client goes.
        raise HotcellError(
            "invalid",
            f"{path!r} is an installation's own file, and is not written.",
            hint="Name the other files, or have the job write it to another folder.",
        )
    return parts


class Landing:
    def __init__(self, root: os.PathLike[str] | str) -> None:
        self.root = Path(root)
        self.root.mkdir(parents=True, exist_ok=True)
        # The root itself is the caller's choice and may be a link; nothing below it may be.
        self._fd = os.open(self.root.resolve(), _folder_flags)

    def close(self) -> None:
        os.close(self._fd)

    def __enter__(self) -> Landing:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @contextmanager
    def _folder(self, parts: list[str], make: bool) -> Iterator[int]:
        fd = os.dup(self._fd)
        try:
            for part in parts:
                if make:
                    with suppress(FileExistsError):
                        os.mkdir(part, 0o755, dir_fd=fd)
                inner = os.open(part, _folder_flags, dir_fd=fd)
                os.close(fd)
                fd = inner
            yield fd
        finally:
            os.close(fd)

    async def write(self, path: str, chunks: AsyncIterable[bytes], digest: str, *, executable: bool = False) -> None:
        """Appears whole and with the bytes of the digest, or not at all. Replaces a link, never what it leads to."""
        *folders, name = parts_of(path)
        with self._folder(folders, make=True) as fd:
            temporary = f".hotcell-{secrets.token_hex(8)}"
            mode = 0o755 if executable else 0o644
            opened = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, mode, dir_fd=fd)
            try:
                seen = hashlib.sha256()
                with os.fdopen(opened, "wb") as file:
                    async for chunk in chunks:
                        seen.update(chunk)
                        file.write(chunk)
                check(path, seen.hexdigest(), digest)
                os.rename(temporary, name, src_dir_fd=fd, dst_dir_fd=fd)
            except BaseException:
                with suppress(FileNotFoundError):
                    os.unlink(temporary, dir_fd=fd)
                raise

    def write_bytes(self, path: str, content: bytes, *, executable: bool = False) -> None:
        async def one() -> AsyncIterator[bytes]:
            yield content

        drive(self.write(path, one(), hashlib.sha256(content).hexdigest(), executable=executable))

    def read(self, path: str) -> bytes:
        *folders, name = parts_of(path)
        with self._folder(folders, make=False) as fd:
            opened = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=fd)
            with os.fdopen(opened, "rb") as file:
                if not stat.S_ISREG(os.fstat(opened).st_mode):
                    raise IsADirectoryError(errno.EISDIR, "not a file", path)
                return file.read()

    def make_folder(self, path: str) -> None:
        with self._folder(parts_of(path), make=True):
            pass

    def state(self, path: str) -> Optional[os.stat_result]:
        *folders, name = parts_of(path)
        try:
            with self._folder(folders, make=False) as fd:
                return os.stat(name, dir_fd=fd, follow_symlinks=False)
        except OSError:
            return None

    def remove(self, path: str) -> None:
        """A file, and nothing else: another program put a folder or link there."""
        *folders, name = parts_of(path)
        with suppress(OSError):
            with self._folder(folders, make=False) as fd:
                if stat.S_ISREG(os.stat(name, dir_fd=fd, follow_symlinks=False).st_mode):
                    os.unlink(name, dir_fd=fd)

    def remove_empty(self, path: str) -> None:
        *folders, name = parts_of(path)
        with suppress(OSError):
            with self._folder(folders, make=False) as fd:
                os.rmdir(name, dir_fd=fd)

    def set_executable(self, path: str, executable: bool) -> None:
        *folders, name = parts_of(path)
        with suppress(OSError):
            with self._folder(folders, make=False) as fd:
                opened = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=fd)
                try:
                    state = os.fstat(opened)
                    if stat.S_ISREG(state.st_mode):
                        os.fchmod(opened, stat.S_IMODE(state.st_mode) & ~0o111 | (0o111 if executable else 0))
                finally:
                    os.close(opened)


def check(path: str, seen: str, digest: str) -> None:
    if digest.removeprefix("sha256:") != seen:
        raise DamagedOutput(
            "stream_broken",
            f"{path}: the bytes that came have the digest sha256:{seen}, and the result says {digest}.",
            hint="Nothing was kept of it. Download it again; if that fails too, tell the operator.",
        )
