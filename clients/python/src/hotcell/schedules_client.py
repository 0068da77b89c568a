"""Runs that repeat, for a program without an event loop."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Optional

from hotcell import schedule_steps as steps
from hotcell.calls import Calls
from hotcell.wire import drive

if TYPE_CHECKING:
    from hotcell.schedule_answers import AppliedSchedule, AskedTick, Backfilling, Schedule, SchedulePage, TickPage


class Schedules:
    """
    >>> hotcell.schedules.create("nightly", "print(1)", cron="0 6 * * *", timezone="Europe/Berlin")

    `docs/schedules.md` says what the rules do. Its runs have the rights of this client's key.
    """

    def __init__(self, calls: Calls) -> None:
        self._calls = calls

    def create(self, name: str, code: Optional[str] = None, **asked: Any) -> Schedule:
        """`asked`: cron, every or on_publish, rules such as overlap and jitter_seconds, and what a run takes: blocks, inputs, policy."""
        return drive(steps.create(self._calls, name, {"code": code, **asked}))

    def change(self, name: str, code: Optional[str] = None, **asked: Any) -> Schedule:
        """Replaces all of it: a new version."""
        return drive(steps.change(self._calls, name, {"code": code, **asked}))

    def apply(self, name: str, code: Optional[str] = None, *, dry_run: bool = False, **asked: Any) -> AppliedSchedule:
        """Makes it be as asked: a new schedule, a new version, or nothing if it is so already."""
        return drive(steps.apply(self._calls, name, {"code": code, **asked}, dry_run))

    def show(self, name: str) -> Schedule:
        return drive(steps.show(self._calls, name))

    def list(self, **query: Any) -> SchedulePage:
        """A page in the order of their names: limit, cursor."""
        return drive(steps.listed(self._calls, query))

    def ticks(self, name: str, **query: Any) -> TickPage:
        """A page of ticks, the newest first: limit, cursor."""
        return drive(steps.ticks(self._calls, name, query))

    def pause(self, name: str, reason: Optional[str] = None) -> Schedule:
        return drive(steps.pause(self._calls, name, reason))

    def resume(self, name: str) -> Schedule:
        return drive(steps.resume(self._calls, name))

    def trigger(self, name: str) -> AskedTick:
        """Asks for a tick now; `run` is the id that its run will have."""
        return drive(steps.trigger(self._calls, name))

    def backfill(self, name: str, since: steps.Moment, until: steps.Moment, *, parallel: int = 1) -> Backfilling:
        """Gives runs to ticks of the past that have none, from `since` to before `until`."""
        return drive(steps.backfill(self._calls, name, since, until, parallel))

    def remove(self, name: str) -> None:
        """Its runs that have begun go on, and the record keeps its ticks."""
        drive(steps.remove(self._calls, name))
