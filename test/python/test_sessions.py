import hashlib
from datetime import datetime, timezone
from typing import Any

import pytest

from hotcell import AsyncHotcell, DamagedOutput, Hotcell, HotcellError, Refused, Session, Step, StepFailed, StepLost, WaitTimeout
from hotcell.session_answers import Step as StepRecord

endless = "print('on')\nwhile True: pass"


def until_it_writes(session: Session, index: int) -> None:
    assert any(row.block == index for row in session.logs())


def test_steps_share_names_and_files_and_the_end_has_the_chain_of_them(hotcell: Hotcell) -> None:
    with hotcell.session(policy="sealed", files={"helper.py": "n = 41"}, labels={"team": "a"}) as session:
        first = session.run("import helper\nx = helper.n\nprint('said')")
        assert (first.index, first.outcome, first.exit_code, first.stdout, first.stderr) == (0, "succeeded", 0, "said\n", "")
        assert session.run("x += 1; x").value == "42"
        failed = session.run("cat more; echo; echo late >&2; exit 3", language="bash", files={"more": "sent along"})
        assert (failed.ok, failed.exit_code, failed.stdout, failed.stderr) == (False, 3, "sent along\n", "late\n")
        assert sorted(failed.log.splitlines()) == ["late", "sent along"]
        with pytest.raises(StepFailed, match="exit code 3") as raised:
            failed.check()
        assert "late" in raised.value.log_tail and raised.value.run == session.id
        error = session.run("1/0").error
        assert error and error.name == "ZeroDivisionError"
        assert session.exec(["cat", "more"]).check().stdout == "sent along"
        session.run("open('/outputs/x.txt', 'w').write(str(x))")
    result = session.result()
    assert (result.outcome, result.outputs.bytes("x.txt")) == ("succeeded", b"42")
    assert result.record.labels == {"team": "a"}
    assert [one["outcome"] for one in result.record.steps or []] == ["succeeded"] * 2 + ["failed"] * 2 + ["succeeded"] * 2


def test_what_a_step_shows_comes_in_its_forms_with_bytes_of_the_digest(hotcell: Hotcell) -> None:
    with hotcell.session() as session:
        step = session.run(
            "import pandas as pd, matplotlib.pyplot as plt\nplt.plot([1, 2])\ndisplay(pd.DataFrame({'a': [1]}))"
        )
        table, picture = sorted(step.displays, key=lambda forms: "image/png" in forms)
        assert "text/html" in table and "<table" in (table["text/html"].text or "")
        drawn = step.bytes(step.outputs.index(picture["image/png"]))
        assert drawn[1:4] == b"PNG" and f"sha256:{hashlib.sha256(drawn).hexdigest()}" == picture["image/png"].sha256


def test_a_step_is_interrupted_and_the_session_goes_on(hotcell: Hotcell) -> None:
    with hotcell.session() as session:
        session.run("x = 42")
        begun = session.begin({"language": "python", "code": endless})
        assert begun.outcome is None
        until_it_writes(session, begun.index)
        with pytest.raises(WaitTimeout, match=r"(?s)Step 1 .*interrupt\(1\)"):
            session.step_end(begun.index, timeout=0.2)
        # The first step that was begun here and is not known to be over.
        session.interrupt()
        assert session.step_end(begun.index).outcome == "cancelled"
        with pytest.raises(HotcellError, match="Pass the number of the step"):
            session.interrupt()
        # As it stands: it is over.
        session.interrupt(begun.index)
        assert session.run("x", timeout_seconds=30).value == "42"
        assert session.run(endless, timeout_seconds=1).outcome == "timed_out"


def test_a_body_that_fails_interrupts_what_runs_and_finishes_the_session(hotcell: Hotcell) -> None:
    with pytest.raises(ZeroDivisionError), hotcell.session() as session:
        begun = session.begin({"language": "python", "code": endless})
        until_it_writes(session, begun.index)
        1 / 0
    result = hotcell.run_by_id(session.id).result()
    assert (result.outcome, (result.record.steps or [])[0]["outcome"]) == ("succeeded", "cancelled"), result.reason


def test_a_session_that_is_over_says_so_and_has_all_that_it_did(hotcell: Hotcell) -> None:
    session = hotcell.session()
    running, waiting = (session.begin({"language": "python", "code": endless}) for _ in "12")
    again = hotcell.session_by_id(session.id)
    again.cancel("not needed")
    with pytest.raises(StepLost, match="Step 1 of session .* did not run.*not needed") as lost:
        again.step_end(waiting.index)
    assert lost.value.code == "step_lost" and "another session" in lost.value.hint
    with pytest.raises(HotcellError, match="Start another one") as over:
        session.run("1")
    assert over.value.code == "finished_already" and running.index == 0
    assert again.finish().outcome == "cancelled"


def test_what_the_policy_refuses_is_said_with_reasons(hotcell: Hotcell) -> None:
    with pytest.raises(Refused) as refused:
        hotcell.session(steps=100_000, idle_seconds=100_000)
    assert {issue.path for issue in refused.value.issues} == {"session.steps", "session.idleSeconds"}
    with pytest.raises(TypeError, match="unknown option retry: use .*idle_seconds"):
        hotcell.session(retry={"on": ["lost"]})
    with hotcell.session(steps=1) as session:
        with pytest.raises(Refused) as long:
            session.run("1", timeout_seconds=100_000)
        assert [issue.path for issue in long.value.issues] == ["timeoutSeconds"]
        session.run("1")
        # It may have ended by itself already.
        with pytest.raises(HotcellError) as spent:
            session.run("2")
        assert spent.value.code in ("policy_refused", "finished_already")
    assert "all of its 1 step" in session.result().reason


def test_the_same_key_starts_the_same_session(hotcell: Hotcell) -> None:
    first, second = (hotcell.session(idempotency_key="a-session-of-its-own") for _ in "12")
    assert first.id == second.id
    first.finish()


async def test_the_same_with_an_event_loop() -> None:
    async with AsyncHotcell() as hotcell:
        async with hotcell.session() as session:
            await session.run("x = 41")
            step = await session.run("print('said')\nx + 1")
            assert (step.value, await step.log(), await step.bytes(0)) == ("42", "said\n", b"42")
            begun = await session.begin({"language": "python", "code": endless})
            async for row in session.logs():
                if row.block == begun.index:
                    break
            await session.interrupt()
            assert (await session.step_end(begun.index)).outcome == "cancelled"
        assert (await session.result()).outcome == "succeeded"
        started = await hotcell.session()
        assert (await started.exec(["true"])).check().index == 0
        assert (await started.finish()).ok


def shown(**output: Any) -> Step:
    record = {
        "run": "r", "index": 0, "status": "finished", "step": "s", "code": "c", "language": "python", "reason": "",
        "at": datetime.now(timezone.utc), "outcome": "succeeded", "exitCode": 0, "signal": None, "saidBy": "job",
        "startedAt": None, "finishedAt": None, "refused": [], "outputs": [{"size": 2, **output}],
    }  # fmt: skip
    return Step(None, StepRecord.model_validate(record))  # type: ignore[arg-type]


def test_text_that_is_not_what_the_result_names_is_not_handed_on() -> None:
    right = f"sha256:{hashlib.sha256(b'42').hexdigest()}"
    assert shown(kind="result", type="text/plain", text="42", sha256=right).bytes(0) == b"42"
    with pytest.raises(DamagedOutput):
        shown(kind="result", type="text/plain", text="43", sha256=right).bytes(0)


def test_only_the_last_expression_is_the_value() -> None:
    assert shown(kind="display", type="text/plain", text="42", sha256="", display=0).value is None
    assert shown(kind="result", type="text/html", text="42", sha256="", display=0).value is None
