"""The steps of schedules, for both kinds of connection."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta, timezone
from typing import TYPE_CHECKING, Any, Optional, TypedDict, Union
from urllib.parse import quote

from hotcell.asking import camel
from hotcell.calls import Calls, posted
from hotcell.steps import blocks_of, request_with_inputs
from hotcell.wire import Asked

if TYPE_CHECKING:
    from hotcell.schedule_answers import AppliedSchedule, AskedTick, Backfilling, Schedule, SchedulePage, TickPage

Moment = Union[str, datetime]


class ScheduleOptions(TypedDict, total=False):
    """When its ticks are planned (one of `cron`, `every` and `on_publish`) and its rules; docs/schedules.md says what they do."""

    cron: str
    # The clocks by which cron is read, for example "Europe/Berlin". Default: UTC.
    timezone: str
    # Seconds, or a timedelta.
    every: Union[int, timedelta]
    # From which the intervals of `every` are counted.
    anchor: Moment
    # The name of snapshots whose versions have a run each.
    on_publish: str
    overlap: str
    missed: str
    catch_up: int
    jitter_seconds: int
    deadline_seconds: int
    pause_after_failures: int


_trigger = {"cron", "timezone", "every", "anchor", "on_publish"}
_code = {"code", "language", "blocks"}


async def _body(calls: Calls, asked: Mapping[str, Any]) -> dict[str, Any]:
    """`asked` has code or blocks, the options of the run, and those of the schedule."""
    own = {name: value for name, value in asked.items() if name in ScheduleOptions.__annotations__}
    if len(own.keys() & {"cron", "every", "on_publish"}) != 1:
        raise TypeError("pass either cron, every or on_publish")
    run = {name: value for name, value in asked.items() if name not in own and name not in _code}
    blocks = blocks_of(asked.get("code"), asked.get("language", "python"), asked.get("blocks"))
    rules = {camel(name): value for name, value in own.items() if name not in _trigger}
    return {"trigger": _trigger_of(own), "run": await request_with_inputs(calls, blocks, run), **rules}


def _trigger_of(options: Mapping[str, Any]) -> dict[str, Any]:
    if "cron" in options:
        zone = {"timezone": options["timezone"]} if "timezone" in options else {}
        return {"cron": options["cron"], **zone}
    if "on_publish" in options:
        return {"onPublish": options["on_publish"]}
    every = options["every"]
    seconds = every.total_seconds() if isinstance(every, timedelta) else every
    anchor = {"anchor": moment(options["anchor"])} if "anchor" in options else {}
    return {"everySeconds": int(seconds) if seconds == int(seconds) else seconds, **anchor}


def moment(at: Moment) -> str:
    """A time without a zone would mean another moment on another machine."""
    if isinstance(at, str):
        return at
    if at.tzinfo is None:
        raise ValueError(f"{at} has no time zone: pass for example datetime(…, tzinfo=timezone.utc)")
    return at.astimezone(timezone.utc).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _at(name: str, action: str = "") -> str:
    return f"/v1/schedules/{quote(name, safe='')}{action}"


async def create(calls: Calls, name: str, asked: Mapping[str, Any]) -> Schedule:
    from hotcell.schedule_answers import Schedule

    body = {"name": name, **(await _body(calls, asked))}
    # Not repeated: the API refuses a second one of the same name.
    return await calls.read(Schedule, posted("/v1/schedules", body), again=False)


async def change(calls: Calls, name: str, asked: Mapping[str, Any]) -> Schedule:
    from hotcell.schedule_answers import Schedule

    put = posted(_at(name), await _body(calls, asked))._replace(method="PUT")
    return await calls.read(Schedule, put, again=False)


async def apply(calls: Calls, name: str, asked: Mapping[str, Any], dry_run: bool) -> AppliedSchedule:
    from hotcell.schedule_answers import AppliedSchedule

    body = {**(await _body(calls, asked)), "dryRun": dry_run}
    # Repeated, it changes nothing more.
    return await calls.read(AppliedSchedule, posted(_at(name, "/apply"), body))


async def show(calls: Calls, name: str) -> Schedule:
    from hotcell.schedule_answers import Schedule

    return await calls.read(Schedule, Asked("GET", _at(name)))


async def listed(calls: Calls, query: Mapping[str, Any]) -> SchedulePage:
    from hotcell.schedule_answers import SchedulePage

    return await calls.read(SchedulePage, Asked("GET", "/v1/schedules", query=dict(query)))


async def ticks(calls: Calls, name: str, query: Mapping[str, Any]) -> TickPage:
    from hotcell.schedule_answers import TickPage

    return await calls.read(TickPage, Asked("GET", _at(name, "/ticks"), query=dict(query)))


async def pause(calls: Calls, name: str, reason: Optional[str]) -> Schedule:
    from hotcell.schedule_answers import Schedule

    return await calls.read(Schedule, posted(_at(name, "/pause"), {} if reason is None else {"reason": reason}))


async def resume(calls: Calls, name: str) -> Schedule:
    from hotcell.schedule_answers import Schedule

    return await calls.read(Schedule, Asked("POST", _at(name, "/resume")))


async def trigger(calls: Calls, name: str) -> AskedTick:
    from hotcell.schedule_answers import AskedTick

    # Not repeated: a second one would be a second run.
    return await calls.read(AskedTick, Asked("POST", _at(name, "/trigger")), again=False)


async def backfill(calls: Calls, name: str, since: Moment, until: Moment, parallel: int) -> Backfilling:
    from hotcell.schedule_answers import Backfilling

    asked = {"from": moment(since), "to": moment(until), "parallel": parallel}
    return await calls.read(Backfilling, posted(_at(name, "/backfill"), asked), again=False)


async def remove(calls: Calls, name: str) -> None:
    await calls.ask(Asked("DELETE", _at(name)), again=False)
