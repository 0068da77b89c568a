"""What a run left in /outputs. Every byte that is handed on has the digest that the result names."""

from __future__ import annotations

import hashlib
import os
from collections.abc import AsyncGenerator, Iterable, Iterator
from contextlib import aclosing
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Optional
from urllib.parse import quote

from hotcell.calls import Calls, Patience
from hotcell.failures import HotcellError, NotFound
from hotcell.landing import Landing, check
from hotcell.problem_errors import error_of
from hotcell.wire import Asked, drive

if TYPE_CHECKING:
    from hotcell.run_answers import RunOutputs, RunOutputsFile, RunOutputsRefused


class BaseOutputs:
    def __init__(self, calls: Calls, run: str, kept: RunOutputs) -> None:
        self._calls = calls
        self._run = run
        self._files = {file.path: file for file in kept.files}
        # What was left in /outputs and was not kept, with reasons.
        self.refused: list[RunOutputsRefused] = kept.refused
        # An input of other runs, or None if there are no files.
        self.snapshot: Optional[str] = kept.snapshot

    def __iter__(self) -> Iterator[RunOutputsFile]:
        return iter(self._files.values())

    def __len__(self) -> int:
        return len(self._files)

    def __contains__(self, path: object) -> bool:
        return path in self._files

    def __getitem__(self, path: str) -> RunOutputsFile:
        file = self._files.get(path)
        if file is None:
            raise NotFound(
                "not_found",
                f"Run {self._run} left no output {path!r}.",
                hint=f"It left {', '.join(list(self._files)[:10]) or 'none'}.",
                run=self._run,
            )
        return file

    def __repr__(self) -> str:
        return f"<{len(self)} outputs of {self._run}: {', '.join(list(self._files)[:5])}>"

    async def read(self, path: str) -> bytes:
        file = self[path]
        patience = Patience(self._calls.wire, self._calls.patience)
        while True:
            try:
                data = b"".join([chunk async for chunk in self._chunks(path)])
                check(path, hashlib.sha256(data).hexdigest(), file.sha256)
                return data
            except HotcellError as error:
                await patience.failed(error)

    async def land(self, landing: Landing, path: str, to: str, *, executable: bool = False) -> None:
        file = self[path]
        patience = Patience(self._calls.wire, self._calls.patience)
        while True:
            try:
                async with aclosing(self._chunks(path)) as chunks:
                    return await landing.write(to, chunks, file.sha256, executable=executable)
            except HotcellError as error:
                await patience.failed(error)

    async def land_all(self, folder: os.PathLike[str] | str, paths: Optional[Iterable[str]]) -> list[Path]:
        wanted = list(self._files) if paths is None else list(paths)
        with Landing(folder) as landing:
            await self._calls.wire.together([partial(self.land, landing, path, path) for path in wanted])
            return [landing.root / path for path in wanted]

    async def _chunks(self, path: str) -> AsyncGenerator[bytes, None]:
        async with self._calls.wire.open(Asked("GET", f"/v1/runs/{self._run}/outputs/{quote(path)}")) as opened:
            if opened.status >= 400:
                raise error_of(await opened.whole())
            async with aclosing(opened.chunks()) as chunks:
                async for chunk in chunks:
                    yield chunk


class Outputs(BaseOutputs):
    def bytes(self, path: str) -> bytes:
        return drive(self.read(path))

    def save(self, folder: os.PathLike[str] | str, paths: Optional[Iterable[str]] = None) -> list[Path]:
        """Writes them, or these of them, at their own paths below the folder."""
        return drive(self.land_all(folder, paths))


class AsyncOutputs(BaseOutputs):
    async def bytes(self, path: str) -> bytes:
        return await self.read(path)

    async def save(self, folder: os.PathLike[str] | str, paths: Optional[Iterable[str]] = None) -> list[Path]:
        """Writes them, or these of them, at their own paths below the folder."""
        return await self.land_all(folder, paths)
