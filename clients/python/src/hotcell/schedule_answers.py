"""Generated from the description of the API by test/docs/generate.ts: do not edit."""

from datetime import datetime
from typing import Literal, Optional, Union

from hotcell.answer import Answer


class ScheduleTrigger(Answer):
    cron: str
    timezone: str


class ScheduleTrigger2(Answer):
    every_seconds: int
    anchor: datetime


class ScheduleTrigger3(Answer):
    on_publish: str


class ScheduleHealth(Answer):
    state: Literal["new", "good", "bad", "paused"]
    message: str


class ScheduleStopped(Answer):
    kind: Literal["paused", "deleted"]
    by: str
    reason: str
    at: datetime


class ScheduleRules(Answer):
    overlap: Literal["skip", "queue", "replace"]
    missed: Literal["skip", "once", "all"]
    catch_up: int
    jitter_seconds: int
    deadline_seconds: Optional[int] = None
    pause_after_failures: Optional[int] = None


class TickPublished(Answer):
    name: str
    snapshot: str
    number: int
    at: datetime
    by: str
    previous: Optional[datetime]


class TickError(Answer):
    path: str
    message: str


class TickProblem(Answer):
    code: str
    message: str


class Tick(Answer):
    planned: datetime
    since: Optional[datetime] = None
    published: Optional[TickPublished] = None
    kind: Literal["planned", "asked"]
    number: int
    state: Literal["run", "waiting", "skipped", "missed", "refused"]
    outcome: Optional[Literal["succeeded", "failed", "timed_out", "out_of_memory", "output_exceeded", "cancelled", "rejected", "lost"]]
    reason: str
    errors: Optional[list[TickError]] = None
    problem: Optional[TickProblem] = None
    run: Optional[str]
    at: datetime


class ScheduleAuthor(Answer):
    key: str
    role: Literal["admin", "submitter", "reader"]


class SchedulePolicy(Answer):
    name: str
    digest: str


class ScheduleImage(Answer):
    ref: str
    digest: str


class ScheduleBackfill(Answer):
    id: str
    from_: datetime
    to: datetime
    parallel: int
    by: str
    at: datetime
    next: datetime


class ScheduleChangePart(Answer):
    path: str
    before: str
    after: str


class Schedule(Answer):
    name: str
    id: str
    number: int
    trigger: Union[ScheduleTrigger, ScheduleTrigger2, ScheduleTrigger3]
    health: ScheduleHealth
    stopped: Optional[ScheduleStopped] = None
    next: list[datetime]
    rules: ScheduleRules
    jitter_ms: float
    waits: str
    last: list[Tick]
    author: ScheduleAuthor
    policy: SchedulePolicy
    image: ScheduleImage
    backfills: list[ScheduleBackfill]
    created_at: datetime
    changed_at: datetime
    changes: list[ScheduleChangePart]


class ListedScheduleTrigger(Answer):
    cron: str
    timezone: str


class ListedScheduleTrigger2(Answer):
    every_seconds: int
    anchor: datetime


class ListedScheduleTrigger3(Answer):
    on_publish: str


class ListedScheduleStopped(Answer):
    kind: Literal["paused", "deleted"]
    by: str
    reason: str
    at: datetime


class ListedSchedule(Answer):
    name: str
    id: str
    number: int
    trigger: Union[ListedScheduleTrigger, ListedScheduleTrigger2, ListedScheduleTrigger3]
    health: ScheduleHealth
    stopped: Optional[ListedScheduleStopped] = None
    next: list[datetime]
    last: Optional[Tick]


class SchedulePage(Answer):
    schedules: list[ListedSchedule]
    next: Optional[str]


class TickPage(Answer):
    ticks: list[Tick]
    next: Optional[str]


class AskedTick(Answer):
    planned: datetime
    run: str


class Backfilling(Answer):
    id: str
    ticks: int


class AppliedScheduleChange(Answer):
    path: str
    before: str
    after: str


class AppliedScheduleStopped(Answer):
    kind: Literal["paused", "deleted"]
    by: str
    reason: str
    at: datetime


class AppliedSchedule(Answer):
    name: str
    result: Literal["new", "changed", "unchanged"]
    number: Optional[int]
    before: Optional[int]
    changes: list[AppliedScheduleChange]
    stopped: Optional[AppliedScheduleStopped] = None
