"""Commands in a folder of this machine, each in a fresh sealed cell. Only the folder outlives a command. The frameworks'
executors in hotcell.integrations are made from it."""

from __future__ import annotations

import asyncio
import os
import tempfile
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Optional

from hotcell.autogen_endings import ended
from hotcell.cell_scripts import CodeFile
from hotcell.client import Hotcell
from hotcell.landing import Landing, parts_of
from hotcell.own_thread import in_thread
from hotcell.work_call import WorkCall, WorkRoom

if TYPE_CHECKING:
    from typing_extensions import Self

# Where the folder is in a cell.
cell_folder = "/outputs/workspace"
_command_block = 1


class Ran(NamedTuple):
    exit_code: int
    stdout: str
    stderr: str
    # Both streams as they were written.
    output: str
    # Why Hotcell ended the command; empty if it ended by itself.
    said: str
    timed_out: bool
    truncated: bool
    run: str


class CommandFolder:
    def __init__(
        self,
        work_dir: Optional[os.PathLike[str] | str] = None,
        *,
        policy: Optional[str] = None,
        image: Optional[str] = None,
        inputs: Optional[Mapping[str, Any]] = None,
        timeout: int = 60,
        url: Optional[str] = None,
        api_key: Optional[str] = None,
    ) -> None:
        self._temporary = tempfile.TemporaryDirectory(prefix="hotcell-") if work_dir is None else None
        self.work_dir = Path(self._temporary.name if self._temporary else os.fspath(work_dir or ""))
        self.work_dir.mkdir(parents=True, exist_ok=True)
        self.timeout = timeout
        self._options = {"policy": policy, "image": image, "inputs": dict(inputs or {})}
        self._client = Hotcell(url, api_key)
        self._room = WorkRoom(self._client.calls)
        self._state = threading.Lock()
        self._calls: set[WorkCall] = set()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Ends the commands that still run, and removes the folder if it was a temporary one."""
        with self._state:
            calls = list(self._calls)
        for call in calls:
            call.cancel()
            call.ended.wait()
        self._client.close()
        if self._temporary is not None:
            self._temporary.cleanup()

    def run(self, command: str, *, timeout: Optional[float] = None) -> Ran:
        """Runs a command in bash."""
        return self._run(self._call(timeout), command)

    async def run_in_loop(self, command: str, *, timeout: Optional[float] = None) -> Ran:
        """The same beside an event loop. If its task is cancelled, it ends the run first."""
        call = self._call(timeout)
        running = asyncio.ensure_future(in_thread(lambda: self._run(call, command)))
        try:
            return await asyncio.shield(running)
        except asyncio.CancelledError:
            call.cancel()
            await asyncio.wait([running])
            running.exception()
            raise

    def _call(self, timeout: Optional[float]) -> WorkCall:
        return WorkCall(self._room, self._options, max(1, round(timeout or self.timeout)))

    def _run(self, call: WorkCall, command: str) -> Ran:
        with self._state:
            self._calls.add(call)
        try:
            # Bash has its file open when it is gone: the folder holds nothing that no command made.
            finished = call.run(self.work_dir, [CodeFile(_script, ["bash"], _forgetful + command)])
        finally:
            with self._state:
                self._calls.discard(call)
        if finished is None:
            return Ran(1, "", "", "", "The folder was closed.", False, False, "")
        result = finished.result
        code, said = ended(result)
        return Ran(
            code,
            result.log_from(_command_block, "stdout"),
            result.log_from(_command_block, "stderr"),
            result.log_from(_command_block),
            said,
            result.outcome == "timed_out",
            result.record.logs.truncated,
            result.run,
        )

    def write(self, path: str, content: bytes) -> None:
        with Landing(self.work_dir) as landing:
            landing.write_bytes(self.inside(path), content)

    def read(self, path: str) -> bytes:
        with Landing(self.work_dir) as landing:
            return landing.read(self.inside(path))

    def inside(self, path: str) -> str:
        """The same path below the folder: relative, or absolute as a command sees it."""
        relative = path.removeprefix(f"{cell_folder}/")
        parts_of(relative)
        return relative


_script = ".hotcell-command"
_forgetful = f"rm -f {_script}\n"
