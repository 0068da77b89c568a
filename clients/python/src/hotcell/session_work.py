"""Commands beside each other, and files, in one session. Steps take turns, so a step that waits for a command gives way to
those that come behind it."""

from __future__ import annotations

import base64
import errno
import json
import threading
import uuid
from collections.abc import Iterable, Mapping, Sequence
from importlib import resources
from typing import Any, NamedTuple, Optional, TypeVar

from hotcell import session_calls
from hotcell.calls import Calls
from hotcell.client import Run
from hotcell.failures import ApiUnreachable, HotcellError, RunLost, WaitTimeout
from hotcell.session_step import Step
from hotcell.wire import drive

T = TypeVar("T")

# The folder in which commands start.
root = "/work/workspace"
# What a command may write, as the program in the cell bounds it.
most_output = 4 * 1024 * 1024
# Well below the time that shipped policies give a step.
_wait_seconds = 60
# An interrupt that comes before its step has begun is lost, so it is sent again.
_between_interrupts = 1.0
_reason_seconds = 5.0
_part_bytes = 8 * 1024 * 1024
# Of a file that is read as a whole: the cell says how large it is.
_most_file = 256 * 1024 * 1024
_part = ".hotcell/part"
_tries = 5
_gone = ("finished_already", "not_found")


class WorkEnded(Exception):
    """The session is over, and with it everything in it."""


class WorkLost(Exception):
    """What was asked for died, and with it what runs beside it. The files are there, and the next one is answered."""


class CommandEnd(NamedTuple):
    # "exited", "timed out", "overflowed"; "unknown" if the interpreter that had it is gone.
    why: str
    exit_code: int
    stdout: str
    stderr: str


class SessionWork:
    """A part of it may be called by any thread, while others run."""

    def __init__(self, calls: Calls, session: str) -> None:
        self._calls = calls
        self.session = session
        self._state = threading.Condition()
        self._running: list[str] = []
        self._ended: dict[str, CommandEnd] = {}
        self._is_waited_for = False
        # The steps that wait for commands now, and the last of which it is known that it is over.
        self._waits: set[int] = set()
        self._over = -1

    def load(self) -> None:
        """The program that a new interpreter needs."""
        program = resources.files("hotcell").joinpath("cell_program.py").read_text("utf-8")
        self._step(program, None, waits=False, wakes=True)

    def run(self, command: str, argv: Sequence[str], env: Mapping[str, str], timeout: Optional[float]) -> CommandEnd:
        """`command` is an id by which another thread can stop it."""
        with self._state:
            self._running.append(command)
            of = list(self._running)
        try:
            self._note(
                self.ask(
                    "start",
                    command=command,
                    argv=list(argv),
                    env=dict(env),
                    timeout=timeout,
                    of=of,
                    seconds=_wait_seconds,
                )
            )
            return self._end_of(command)
        finally:
            with self._state:
                self._running.remove(command)
                self._ended.pop(command, None)

    def stop(self, command: str) -> None:
        """Ends it, or keeps it from being started."""
        self.ask("stop", command=command)

    def read(self, path: str) -> bytes:
        for _ in range(_tries):
            data, state = b"", None
            while len(data) <= _most_file:
                said = self.ask("read", path=path, begin=len(data))
                if state not in (None, field(said, "state", list)):
                    # It was written to meanwhile.
                    break
                state = said["state"]
                part = _bytes(said, "data")
                data += part
                if len(data) >= field(said, "size", int) or not part:
                    return data
            else:
                raise OSError(errno.EFBIG, f"more than {_most_file} bytes: read a part of it with a command", path)
        raise OSError(f"{path!r} changed each time while it was read")

    def write(self, path: str, data: bytes) -> None:
        for begin in range(0, max(1, len(data)), _part_bytes):
            content = data[begin : begin + _part_bytes]
            self.ask("write", {_part: content}, path=path, part=f"/work/{_part}", begin=begin)

    def finish(self) -> None:
        """Ends the session, kills the commands that still run, and waits until it is over."""
        try:
            drive(session_calls.ask_to_finish(self._calls, self.session))
        except HotcellError as error:
            if error.code not in _gone:
                raise
            return
        while True:
            # Behind a step that waits for a command, the end would wait as well.
            self._wake(list(self._waits))
            try:
                Run(self._calls, self.session, []).result(_between_interrupts, progress=False)
                return
            except WaitTimeout:
                continue
            except RunLost:
                return

    def ask(self, do: str, files: Optional[Mapping[str, bytes]] = None, **order: Any) -> dict[str, Any]:
        """A step that was interrupted before it did anything is sent again. `start` may be, for a command has one id."""
        code = f"_hotcell({json.dumps(json.dumps({'do': do, **order}))})"
        try:
            for _ in range(_tries):
                step = self._step(code, files, waits=do in ("start", "wait"), wakes=do != "wait")
                if (said := _said_by(step)) is not None:
                    return _or_raised(said, order.get("path", ""))
                if step.error is not None and step.error.name == "NameError":
                    # A new interpreter, because the one before died.
                    self.load()
                elif step.outcome not in ("cancelled", "lost", None):
                    break
        except HotcellError as error:
            if error.code in _gone:
                raise WorkEnded(f"The session is over: {self._why_over(error)}") from error
            raise
        raise WorkLost(f"Session {self.session} gave no answer. {step.reason}")

    def _end_of(self, command: str) -> CommandEnd:
        """One thread waits in the cell for the commands of all."""
        while True:
            with self._state:
                while self._is_waited_for and command not in self._ended:
                    self._state.wait()
                if command in self._ended:
                    if self._ended[command].why == "unknown":
                        raise WorkLost("The interpreter of the session ended, and with it the command.")
                    return self._ended[command]
                self._is_waited_for = True
                of = list(self._running)
            try:
                self._note(self.ask("wait", of=of, seconds=_wait_seconds))
            finally:
                with self._state:
                    self._is_waited_for = False
                    self._state.notify_all()

    def _note(self, said: Mapping[str, Any]) -> None:
        if "ended" not in said:
            return
        name, why = field(said, "ended", str), field(said, "why", str)
        if why == "unknown":
            end = CommandEnd(why, 1, "", "")
        else:
            streams = [_bytes(said, stream).decode("utf-8", "replace") for stream in ("stdout", "stderr")]
            end = CommandEnd(why, field(said, "exit", int), *streams)
        with self._state:
            if name in self._running and not (why == "unknown" and name in self._ended):
                self._ended[name] = end
            self._state.notify_all()

    def _step(self, code: str, files: Optional[Mapping[str, bytes]], *, waits: bool, wakes: bool) -> Step:
        asked = session_calls.step_of({"language": "python", "code": code}, files, None)
        index = drive(session_calls.begin(self._calls, self.session, asked)).index
        ahead = [one for one in list(self._waits) if one < index]
        if waits:
            self._waits.add(index)
        try:
            if wakes:
                self._wake(ahead)
            timeout = _between_interrupts if wakes else None
            while True:
                try:
                    record = drive(session_calls.step_end(self._calls, self.session, index, timeout))
                    self._over = max(self._over, index)
                    return Step(self._calls, record)
                except WaitTimeout:
                    self._wake_all_ahead(index)
                except ApiUnreachable:
                    if timeout is None:
                        raise
                    # Without a time of its own, the wait has the client's patience.
                    timeout = None
        finally:
            self._waits.discard(index)

    def _wake(self, steps: Iterable[int]) -> None:
        for index in sorted(steps):
            drive(session_calls.interrupt(self._calls, self.session, index))

    def _wake_all_ahead(self, index: int) -> None:
        """Also those of other processes: what is no wait takes no notice."""
        for one in range(index - 1, self._over, -1):
            if not drive(session_calls.interrupt(self._calls, self.session, one)):
                return

    def _why_over(self, error: HotcellError) -> str:
        try:
            return Run(self._calls, self.session, []).result(_reason_seconds, progress=False).reason
        except HotcellError:
            return error.message


def _said_by(step: Step) -> Optional[dict[str, Any]]:
    """What the program in the cell says: the job's word, as all that comes from a cell."""
    for place, shown in enumerate(step.outputs):
        if shown.kind == "result" and shown.type == "text/plain":
            try:
                said = json.loads(step.bytes(place))
            except ValueError:
                return None
            return said if isinstance(said, dict) else None
    return None


def field(said: Mapping[str, Any], name: str, kind: type[T]) -> T:
    value = said.get(name)
    if not isinstance(value, kind):
        raise WorkLost(f"The cell's answer has no {name} that can be understood. Start a new session.")
    return value


def _bytes(said: Mapping[str, Any], name: str) -> bytes:
    try:
        return base64.b64decode(field(said, name, str))
    except ValueError as error:
        raise WorkLost(f"The cell's answer has no {name} that can be understood. Start a new session.") from error


def _or_raised(said: dict[str, Any], path: str) -> dict[str, Any]:
    if "invalid" in said:
        raise ValueError(field(said, "invalid", str))
    if "errno" in said:
        # The kind of error follows from its number.
        raise OSError(field(said, "errno", int), field(said, "message", str), path)
    return said
