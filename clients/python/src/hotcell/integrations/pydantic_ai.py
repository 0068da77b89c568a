"""A workspace of pydantic-ai in a sealed cell: `Agent(model, capabilities=[HotcellWorkspace()])`. Commands and files share one
session, whose id is the workspace's ref."""

from __future__ import annotations

import dataclasses
import posixpath
import threading
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from functools import partial
from typing import Any, Optional, TypeVar

import anyio
from pydantic_ai.capabilities import AbstractCapability
from pydantic_ai.workspaces import (
    CommandResult,
    FileEntry,
    SupportsCommands,
    SupportsFilesystem,
    SupportsRealpath,
    WorkspaceBackend,
    WorkspaceCommand,
    WorkspaceError,
    WorkspaceOutputLimitError,
    WorkspaceRef,
    WorkspaceTimeoutError,
    WorkspaceUnavailableError,
)
from pydantic_ai.workspaces.protocol import validate_timeout

from hotcell.client import Hotcell
from hotcell.own_thread import in_thread
from hotcell.session_work import CommandEnd, SessionWork, WorkEnded, WorkLost, field, most_output, root

T = TypeVar("T")

_provider = "hotcell"
# How long a cancelled call waits until its command is dead.
_stop_seconds = 30
_preview = 64 * 1024


class HotcellWorkspaceBackend(WorkspaceBackend, SupportsCommands, SupportsFilesystem, SupportsRealpath):  # type: ignore[misc]
    """`options` are those of Hotcell.session: policy, image, inputs, steps, idle_seconds and others. The session begins with the
    first operation and ends by `finish`, its lifetime, or when no step came for idle_seconds."""

    def __init__(
        self, *, ref: Optional[WorkspaceRef] = None, url: Optional[str] = None, api_key: Optional[str] = None, **options: Any
    ) -> None:
        self._ref = ref
        self._options = options
        self._url, self._api_key = url, api_key
        self._client: Optional[Hotcell] = None
        self._opening = threading.Lock()
        self._work: Optional[SessionWork] = None

    @property
    def ref(self) -> Optional[WorkspaceRef]:
        return self._ref

    async def working_dir(self) -> str:
        await self._do(lambda work: work.ask("exists", path=root))
        return root

    async def finish(self) -> None:
        """Ends the session. What is in /outputs is kept, under the id in `ref`."""
        await in_thread(lambda: self._open().finish())

    async def run(
        self,
        command: WorkspaceCommand,
        *,
        shell: bool = False,
        env: Optional[Mapping[str, str]] = None,
        timeout: Optional[float] = None,
    ) -> CommandResult:
        validate_timeout(timeout)
        if isinstance(command, str) != shell:
            raise TypeError("a string needs shell=True, and a sequence of arguments shell=False")
        argv = ["sh", "-c", command] if isinstance(command, str) else list(command)
        name = uuid.uuid4().hex
        try:
            end = await self._do(lambda work: work.run(name, argv, env or {}, timeout))
        except anyio.get_cancelled_exc_class():
            with anyio.move_on_after(_stop_seconds, shield=True):
                await self._do(lambda work: work.stop(name))
            raise
        return _result(end, timeout)

    async def read_bytes(self, path: str) -> bytes:
        return await self._do(lambda work: work.read(_absolute(path)))

    async def write_bytes(self, path: str, data: bytes) -> None:
        await self._do(lambda work: work.write(_absolute(path), data))

    async def stat(self, path: str) -> FileEntry:
        return _entry(await self._said("stat", path, "entry", dict))

    async def list_dir(self, path: str) -> Sequence[FileEntry]:
        return [_entry(one) for one in await self._said("list_dir", path, "entries", list) if isinstance(one, dict)]

    async def make_dir(self, path: str) -> None:
        await self._do(lambda work: work.ask("make_dir", path=_absolute(path)))

    async def remove(self, path: str) -> None:
        await self._do(lambda work: work.ask("remove", path=_absolute(path)))

    async def exists(self, path: str) -> bool:
        return await self._said("exists", path, "exists", bool)

    async def realpath(self, path: str) -> str:
        return await self._said("realpath", path, "path", str)

    async def _said(self, do: str, path: str, name: str, kind: type[T]) -> T:
        return await self._do(lambda work: field(work.ask(do, path=_absolute(path)), name, kind))

    async def _do(self, what: Callable[[SessionWork], T]) -> T:
        return await in_thread(partial(self._done, what))

    def _done(self, what: Callable[[SessionWork], T]) -> T:
        try:
            return what(self._open())
        except WorkEnded as ended:
            raise WorkspaceUnavailableError(str(ended)) from ended
        except WorkLost as lost:
            raise WorkspaceError(str(lost)) from lost

    def _open(self) -> SessionWork:
        """Several first operations at once have one session."""
        with self._opening:
            if self._work is None:
                self._client = client = self._client or Hotcell(self._url, self._api_key)
                is_new = self._ref is None
                if self._ref is None:
                    self._ref = WorkspaceRef(provider=_provider, id=client.session(**self._options).id)
                if self._ref.provider != _provider or not _is_id(self._ref.id):
                    raise WorkspaceUnavailableError(f"{self._ref} is no session of Hotcell.")
                self._work = SessionWork(client.calls, self._ref.id)
                if is_new:
                    self._work.load()
            return self._work


@dataclass
class HotcellWorkspace(AbstractCapability[Any]):  # type: ignore[misc]
    """Gives each conversation a session of its own, and goes on with the one that its history names."""

    _: KW_ONLY
    policy: Optional[str] = None
    image: Optional[str] = None
    inputs: Optional[Mapping[str, Any]] = None
    steps: Optional[int] = None
    idle_seconds: Optional[int] = None
    url: Optional[str] = None
    api_key: Optional[str] = dataclasses.field(default=None, repr=False)
    id: Optional[str] = "hotcell_workspace"

    def get_workspace(self, ctx: Any, *, ref: Optional[WorkspaceRef]) -> Optional[WorkspaceBackend]:
        if ref is not None and ref.provider != _provider:
            return None
        given = {name: getattr(self, name) for name in ("policy", "image", "inputs", "steps", "idle_seconds")}
        options = {name: value for name, value in given.items() if value}
        return HotcellWorkspaceBackend(ref=ref, url=self.url, api_key=self.api_key, **options)


def _result(end: CommandEnd, timeout: Optional[float]) -> CommandResult:
    if end.why == "timed out":
        raise WorkspaceTimeoutError(f"The command took longer than {timeout} s.", stdout=end.stdout, stderr=end.stderr)
    if end.why == "overflowed":
        raise WorkspaceOutputLimitError(
            f"The command wrote more than {most_output} bytes and was killed. Write to a file, and read a part of it.",
            limit=most_output,
            stdout=end.stdout[:_preview],
            stderr=end.stderr[:_preview],
        )
    return CommandResult(exit_code=end.exit_code, stdout=end.stdout, stderr=end.stderr)


def _entry(said: Mapping[str, Any]) -> FileEntry:
    """As the program in the cell says it: the job's word."""
    path, size = str(said.get("path")), said.get("size")
    is_dir = said.get("is_dir") is True
    return FileEntry(name=posixpath.basename(path), path=path, is_dir=is_dir, size=size if isinstance(size, int) else None)


def _absolute(path: str) -> str:
    if not posixpath.isabs(path):
        raise ValueError(f"the path has to be absolute, and {path!r} is not")
    return path


def _is_id(session: str) -> bool:
    try:
        return str(uuid.UUID(session)) == session
    except ValueError:
        return False
