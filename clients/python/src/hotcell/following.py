"""Following a run to its result, across connections that break."""

from __future__ import annotations

import json
import time
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from typing import TYPE_CHECKING, Any, Optional

from hotcell.calls import Calls, Patience, ended_waiting, parsed
from hotcell.failures import ApiUnreachable, HotcellError
from hotcell.log_text import LogText
from hotcell.wire import Asked

if TYPE_CHECKING:
    from hotcell.run_answers import LogRow, Result

# The API sends an empty line every 15 seconds: a connection that is silent for longer is dead.
_silence = 45.0


class Place:
    """How far a reader has come: behind it a broken stream goes on, so that nothing comes twice or is missing."""

    def __init__(self, after: int = -1) -> None:
        self.after = after




async def finish(
    calls: Calls,
    run: str,
    *,
    timeout: Optional[float] = None,
    on_status: Callable[[str, str], Any] = lambda *_: None,
) -> tuple[Result, LogText]:
    """Waits for the result, and reads the log on the way."""
    from hotcell.run_answers import Result, RunEventLog

    deadline = None if timeout is None else time.monotonic() + timeout
    log = LogText()
    place = Place()
    async with aclosing(_rows(calls, run, "events", {}, place, deadline, until_result=True)) as rows:
        async for line in rows:
            event = json.loads(line)
            kind = event.get("type")
            if kind == "log":
                row = parsed(RunEventLog, line)
                log.add(row)
                place.after = row.seq
            elif kind == "status":
                on_status(str(event.get("status")), str(event.get("reason") or ""))
            elif kind == "result":
                record = parsed(Result, json.dumps(event["result"]).encode())
                # What an attempt wrote that did not end the run is not in its log.
                return record, log if len(record.attempts) <= 1 else await _committed_log(calls, run)
    raise AssertionError("a followed run ends in a result or an exception")


async def _committed_log(calls: Calls, run: str) -> LogText:
    log = LogText()
    async with aclosing(log_rows(calls, run, follow=False)) as rows:
        async for row in rows:
            log.add(row)
    return log


async def log_rows(calls: Calls, run: str, *, after: int = -1, follow: bool = True) -> AsyncGenerator[LogRow, None]:
    from hotcell.run_answers import LogRow

    place = Place(after)
    query = {"follow": "true" if follow else "false"}
    async with aclosing(_rows(calls, run, "logs", query, place, None)) as rows:
        async for line in rows:
            row = parsed(LogRow, line)
            place.after = row.seq
            yield row


async def _rows(
    calls: Calls,
    run: str,
    what: str,
    query: dict[str, str],
    place: Place,
    deadline: Optional[float],
    until_result: bool = False,
) -> AsyncGenerator[bytes, None]:
    patience = Patience(calls.wire, calls.patience, deadline)
    while True:
        left = _silence if deadline is None else min(_silence, deadline - time.monotonic())
        if left <= 0:
            raise ended_waiting(run)
        asked = Asked(
            "GET",
            f"/v1/runs/{run}/{what}",
            query={**query, "after": str(place.after)},
            headers={"accept": "application/x-ndjson"},
            timeout=left,
        )
        try:
            async with aclosing(calls.lines(asked)) as lines:
                async for line in lines:
                    if line:
                        patience.succeeded()
                        yield line
                    elif deadline is not None and time.monotonic() > deadline:
                        raise ended_waiting(run)
            if not until_result:
                return
            # An API that restarts ends its streams early; the next request goes on.
            raise ApiUnreachable("api_unreachable", "The API ended the stream before the run was finished.")
        except HotcellError as error:
            if deadline is not None and time.monotonic() >= deadline:
                raise ended_waiting(run) from error
            await patience.failed(error)
