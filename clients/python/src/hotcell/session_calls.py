"""The calls of sessions, for both kinds of connection."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Optional

from hotcell.asking import FileContent, RunOptions, bundled, key_of, new_key
from hotcell.calls import Calls, parsed, posted
from hotcell.failures import HotcellError, WaitTimeout
from hotcell.steps import request_with_inputs
from hotcell.wire import Asked

if TYPE_CHECKING:
    from hotcell.run_answers import AcceptedRun, LogRow
    from hotcell.session_answers import Step

# The longest that one request waits for a step.
_wait_seconds = 60
# How much longer its answer may take.
_grace_seconds = 30.0


class SessionOptions(RunOptions, total=False):
    """What a session takes: what a run does without `retry` and `not_before`, and how long it may be."""

    # How many steps it has at most.
    steps: int
    # It ends by itself when no step came for so long.
    idle_seconds: int


_terms = {"steps": "steps", "idle_seconds": "idleSeconds"}
_of_runs_only = {"retry", "not_before"}


async def start(calls: Calls, options: Mapping[str, Any]) -> AcceptedRun:
    from hotcell.run_answers import AcceptedRun

    taken = set(SessionOptions.__annotations__) - _of_runs_only
    if unknown := set(options) - taken:
        raise TypeError(f"unknown option {', '.join(sorted(unknown))}: use {', '.join(sorted(taken))}")
    key = key_of(options)
    run = {name: value for name, value in options.items() if name not in _terms}
    request = await request_with_inputs(calls, [], run)
    del request["blocks"]
    if terms := {_terms[name]: options[name] for name in _terms if options.get(name) is not None}:
        request["session"] = terms
    return await calls.read(AcceptedRun, posted("/v1/sessions", request, {"idempotency-key": key}))


def step_of(
    block: Mapping[str, Any], files: Optional[Mapping[str, FileContent]], timeout_seconds: Optional[int]
) -> dict[str, Any]:
    request = dict(block)
    if files:
        request["files"] = [bundled(path, content) for path, content in files.items()]
    if timeout_seconds is not None:
        request["timeoutSeconds"] = timeout_seconds
    return request


async def begin(calls: Calls, run: str, step: Mapping[str, Any]) -> Step:
    """Records the step. Sent again after an answer that was lost, it is the same one."""
    from hotcell.session_answers import Step

    return await calls.read(Step, posted(f"/v1/runs/{run}/steps", step, {"idempotency-key": new_key()}))


async def step_end(calls: Calls, run: str, index: int, timeout: Optional[float]) -> Step:
    """Waits across connections that break. WaitTimeout ends only the waiting."""
    from hotcell.session_answers import Step

    deadline = None if timeout is None else time.monotonic() + timeout
    pause = 0.1
    while True:
        left = _wait_seconds if deadline is None else max(0.0, deadline - time.monotonic())
        seconds = min(_wait_seconds, math.ceil(left))
        asked = Asked(
            "GET", _at(run, index), headers={"prefer": f"wait={seconds}"}, timeout=min(left, seconds) + _grace_seconds
        )
        answer = await calls.ask(asked, again=True, deadline=deadline)
        step = parsed(Step, answer.body)
        if step.status == "finished":
            return step
        if deadline is not None and time.monotonic() >= deadline:
            raise _still_going(run, index)
        if "preference-applied" not in answer.headers:
            # The API has no room for another wait.
            await calls.wire.pause(pause)
            pause = min(pause * 2, 3.0)


async def step_rows(calls: Calls, run: str, index: int) -> list[LogRow]:
    from hotcell.run_answers import LogRow

    asked = Asked("GET", f"{_at(run, index)}/logs", headers={"accept": "application/x-ndjson"})
    lines = (await calls.ask(asked, again=True)).body.split(b"\n")
    return [parsed(LogRow, line) for line in lines if line]


async def shown(calls: Calls, run: str, index: int, output: int) -> bytes:
    return (await calls.ask(Asked("GET", f"{_at(run, index)}/outputs/{output}"), again=True)).body


async def interrupt(calls: Calls, run: str, index: int) -> bool:
    """Not repeated: a second one would hit what the program does about the first. False: the step was over."""
    try:
        await calls.ask(posted(f"{_at(run, index)}/interrupt", {}), again=False)
    except HotcellError as error:
        if error.code != "finished_already":
            raise
        return False
    return True


async def ask_to_finish(calls: Calls, run: str, deadline: Optional[float] = None) -> None:
    """Behind the steps that were sent. Again does no harm."""
    await calls.ask(posted(f"/v1/runs/{run}/finish", {}), again=True, deadline=deadline)


async def give_up(calls: Calls, run: str, begun: Sequence[int]) -> None:
    """Ends it without waiting, because its caller failed: that failure is raised, and not one of these calls."""
    try:
        await ask_to_finish(calls, run, time.monotonic() + 10)
        for index in begun:
            await interrupt(calls, run, index)
    except HotcellError:
        # It ends by itself when no step comes.
        pass


def running(session: str, begun: Sequence[int]) -> int:
    """Steps run in the order in which they were begun."""
    if not begun:
        raise HotcellError(
            "invalid",
            f"No step that this handle of session {session} began is known to run.",
            hint="Pass the number of the step.",
            run=session,
        )
    return begun[0]


def _at(run: str, index: int) -> str:
    return f"/v1/runs/{run}/steps/{index}"


def _still_going(run: str, index: int) -> WaitTimeout:
    return WaitTimeout(
        "wait_timeout",
        f"Step {index} of session {run} is not over yet; the time to wait for it is over.",
        hint=f"The step goes on: wait again with .step_end({index}), or stop it with .interrupt({index}).",
        run=run,
    )
