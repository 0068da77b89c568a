from datetime import datetime, timedelta, timezone

import pytest

from hotcell import AsyncHotcell, Hotcell, HotcellError, NotFound


def test_a_schedule_runs_when_it_is_asked_to_and_lists_its_ticks(hotcell: Hotcell) -> None:
    schedules = hotcell.schedules
    made = schedules.create(
        "nightly",
        "import json; print(json.load(open('/inputs/params.json'))['greeting'])",
        cron="0 3 * * 1-5",
        timezone="Europe/Berlin",
        overlap="queue",
        jitter_seconds=30,
        params={"greeting": "good night"},
    )
    assert (made.trigger.cron, made.trigger.timezone) == ("0 3 * * 1-5", "Europe/Berlin")
    assert (made.rules.overlap, made.rules.jitter_seconds, len(made.next)) == ("queue", 30, 5)
    assert [one.name for one in schedules.list().schedules] == ["nightly"]
    tick = schedules.trigger("nightly")
    # The leader decides about it, writes that down, and submits its run.
    while tick.run not in {row.run for row in hotcell.runs().runs}:
        pass
    ticks = schedules.ticks("nightly").ticks
    assert ticks[0].run == tick.run and ticks[0].kind == "asked"
    assert hotcell.run_by_id(tick.run).result().stdout == "good night\n"

    paused = schedules.pause("nightly", "holidays")
    assert paused.stopped is not None and paused.stopped.reason == "holidays"
    assert schedules.resume("nightly").stopped is None
    changed = schedules.change("nightly", "print(2)", every=timedelta(hours=2))
    assert changed.number == 2 and changed.trigger.every_seconds == 7200
    schedules.remove("nightly")
    with pytest.raises(NotFound):
        schedules.show("nightly")


def test_ticks_of_the_past_get_runs(hotcell: Hotcell) -> None:
    anchor = datetime(2026, 1, 1, tzinfo=timezone.utc)
    hotcell.schedules.create("hourly", "print(1)", every=3600, anchor=anchor)
    begun = hotcell.schedules.backfill("hourly", anchor, anchor + timedelta(hours=2), parallel=2)
    assert begun.ticks == 2
    (backfill,) = hotcell.schedules.show("hourly").backfills or [None]
    assert backfill is None or backfill.from_ == anchor
    hotcell.schedules.remove("hourly")


def test_what_is_applied_is_made_changed_or_left_alone(hotcell: Hotcell) -> None:
    apply = hotcell.schedules.apply
    assert apply("applied", "print(1)", every=3600, dry_run=True).number is None
    assert [apply("applied", "print(1)", every=3600).result for _ in range(2)] == ["new", "unchanged"]
    changed = apply("applied", "print(1)", every=7200)
    assert (changed.result, changed.number, changed.changes[0].path) == ("changed", 2, "trigger.everySeconds")
    hotcell.schedules.remove("applied")


def test_what_is_wrong_is_said_before_anything_is_sent(hotcell: Hotcell) -> None:
    with pytest.raises(TypeError, match="either cron, every or on_publish"):
        hotcell.schedules.create("no", "print(1)")
    with pytest.raises(ValueError, match="no time zone"):
        hotcell.schedules.create("no", "print(1)", every=60, anchor=datetime(2026, 1, 1))
    with pytest.raises(TypeError, match="unknown option polcy"):
        hotcell.schedules.create("no", "print(1)", every=60, polcy="sealed")
    with pytest.raises(HotcellError, match="Write five: minute, hour"):
        hotcell.schedules.create("no", "print(1)", cron="at noon")


async def test_the_same_with_an_event_loop() -> None:
    async with AsyncHotcell() as hotcell:
        made = await hotcell.schedules.create("loop", "print(1)", every=3600)
        assert (await hotcell.schedules.show("loop")).id == made.id
        await hotcell.schedules.remove("loop")
