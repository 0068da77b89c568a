"""Batches, workflows and webhooks, with and without an event loop."""

import json
import uuid
from pathlib import Path

import pytest

from hotcell import AsyncHotcell, Hotcell, HotcellError, NotFound, Refused, WaitTimeout

square = """
import json
n = json.load(open("/inputs/params.json"))["n"]
if n == 3: raise SystemExit(3)
json.dump(n * n, open("/outputs/n.json", "w"))
"""


def test_a_batch_runs_once_for_each_item_and_says_how_they_ended(hotcell: Hotcell, tmp_path: Path) -> None:
    over = {"items": [{"n": 2}, {"n": 3}]}
    made = hotcell.batches.create(over, square, name="squares", parallel=2, labels={"team": "a"})
    assert (made.name, made.rules.parallel) == ("squares", 2)
    with pytest.raises(WaitTimeout, match="has not ended yet"):
        hotcell.batches.end(made.batch, timeout=0)
    ended = hotcell.batches.end(made.batch)
    assert (ended.state, ended.counts.succeeded, ended.counts.failed) == ("failed", 1, 1)
    first, second = hotcell.batches.items(made.batch).items
    assert first.run and json.loads(hotcell.run_by_id(first.run).outputs.bytes("n.json")) == 4
    assert [one.run for one in hotcell.batches.items(made.batch, unsuccessful=True).items] == [second.run]
    assert made.batch in [one.batch for one in hotcell.batches.list(limit=5).batches]
    again = hotcell.batches.end(hotcell.batches.rerun(made.batch).batch)
    assert (again.round, again.counts.succeeded) == (1, 1)
    with pytest.raises(HotcellError) as over_already:
        hotcell.batches.cancel(made.batch)
    assert over_already.value.status == 409
    table = tmp_path / "table.csv"
    table.write_text("n\n2\n")
    rows = hotcell.batches.create({"csv": table}, "print(1)")
    assert hotcell.batches.end(rows.batch).counts.succeeded == 1


def test_a_workflow_hands_on_what_its_steps_leave(hotcell: Hotcell) -> None:
    begun = hotcell.workflows.begin(
        "nightly",
        {
            "extract": {"code": "open('/outputs/x', 'w').write('41')"},
            "load": {"code": "print(int(open('/inputs/data/x').read()) + 1)", "inputs": {"data": "step:extract"}},
            "alarm": {"code": "1", "needs": ["load"], "on_failed_need": "run", "when": [{"step": "load", "outcome": ["failed"]}]},
        },
        parallel=2,
    )
    ended = hotcell.workflows.end(begun.workflow)
    steps = {step.name: step for step in ended.steps}
    assert (ended.outcome, steps["load"].after, steps["alarm"].state) == ("succeeded", ["extract"], "skipped"), ended.reason
    (task,) = steps["load"].tasks
    assert task.run and hotcell.run_by_id(task.run).result().stdout == "42\n"
    again = hotcell.workflows.rerun(begun.workflow, from_step="load")
    assert again.from_ == begun.workflow and hotcell.workflows.end(again.workflow).outcome == "succeeded"
    listed = [one.workflow for one in hotcell.workflows.list(limit=5).workflows]
    assert {begun.workflow, again.workflow} <= set(listed)
    with pytest.raises(HotcellError) as wrong:
        hotcell.workflows.begin("wrong", {"load": {"code": "1", "needs": ["nosuch"]}})
    assert "nosuch" in str(wrong.value)
    with pytest.raises(NotFound):
        hotcell.workflows.show("01a1f6fa-ad5c-7035-9d30-3111579f076c")


def test_webhooks_are_made_listed_and_removed(hotcell: Hotcell) -> None:
    made = hotcell.webhooks.create("https://example.org/", ["schedule.paused"])
    assert made.public_key and made.id in [one.id for one in hotcell.webhooks.list()]
    assert hotcell.webhooks.deliveries(made.id, limit=5).deliveries == []
    keys = hotcell.webhooks.callbacks()
    assert keys.public_key.startswith("whpk_") and keys == hotcell.webhooks.callbacks()
    assert hotcell.webhooks.deliveries("callbacks").deliveries == []
    hotcell.webhooks.remove(made.id)
    assert made.id not in [one.id for one in hotcell.webhooks.list()]
    with pytest.raises(HotcellError):
        hotcell.webhooks.create("ftp://example.org/", ["batch.finished"])


def test_the_same_key_again_is_the_same_batch_and_the_same_workflow(hotcell: Hotcell) -> None:
    key = f"twice-{uuid.uuid4()}"
    batches = [hotcell.batches.create({"items": [{"n": 1}]}, "1", idempotency_key=key) for _ in range(2)]
    assert batches[0].batch == batches[1].batch
    steps = {"only": {"code": "1"}}
    begun = [hotcell.workflows.begin("twice", steps, idempotency_key=key) for _ in range(2)]
    assert begun[0].workflow == begun[1].workflow
    with pytest.raises(TypeError, match="pass it to begin"):
        hotcell.workflows.begin("wrong", {"only": {"code": "1", "idempotency_key": key}})


def test_what_names_a_callback_says_so(hotcell: Hotcell) -> None:
    url = "https://hotcell.invalid/ends"
    batch = hotcell.batches.create({"items": [{"n": 1}]}, square, callback=url)
    begun = hotcell.workflows.begin("calls", {"only": {"code": "print(1)"}}, callback=url)
    assert (batch.callback, begun.callback) == (url, url)
    with pytest.raises(Refused) as refused:
        hotcell.run("print(1)", callback="https://127.0.0.1/")
    assert "callback" in str(refused.value)


async def test_the_same_in_an_event_loop() -> None:
    async with AsyncHotcell() as hotcell:
        batch = await hotcell.batches.create({"items": [{"n": 2}]}, square)
        assert (await hotcell.batches.end(batch.batch)).counts.succeeded == 1
        long = await hotcell.workflows.begin("long", {"only": {"code": "import time; time.sleep(1000)"}})
        await hotcell.workflows.cancel(long.workflow, "not needed")
        assert (await hotcell.workflows.end(long.workflow)).outcome == "cancelled"
        webhook = await hotcell.webhooks.create("https://example.org/", ["run.finished"])
        await hotcell.webhooks.remove(webhook.id)
        with pytest.raises(Refused):
            await hotcell.batches.create({"items": [{"n": 1}]}, square, policy="nosuch")
