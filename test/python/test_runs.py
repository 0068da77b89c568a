import hashlib
import json
import uuid

import pytest

from hotcell import Hotcell, NotFound, Refused, RunFailed, WaitTimeout


def test_a_run_gives_outcome_exit_code_and_both_streams(hotcell: Hotcell) -> None:
    result = hotcell.run("import sys; print('out: é'); print('err', file=sys.stderr); sys.exit(3)")
    assert (result.outcome, result.exit_code, result.ok) == ("failed", 3, False)
    assert (result.stdout, result.stderr) == ("out: é\n", "err\n")
    with pytest.raises(RunFailed, match="exit code 3") as failed:
        result.check()
    assert "err" in failed.value.log_tail


def test_a_run_has_evidence_byte_for_byte_as_its_result_names_it(hotcell: Hotcell) -> None:
    run = hotcell.submit("print(1)")
    named = run.result().record.evidence
    bundle = run.evidence()
    assert named and named.sha256 == f"sha256:{hashlib.sha256(bundle).hexdigest()}"
    assert json.loads(bundle)["dsseEnvelope"]["payloadType"] == "application/vnd.in-toto+json"


def test_bytes_that_are_no_text_are_replaced_and_characters_are_put_together(hotcell: Hotcell) -> None:
    code = "import sys, time\nfor b in 'é'.encode() + b'\\xff!': sys.stdout.buffer.write(bytes([b])); sys.stdout.flush(); time.sleep(.01)"
    assert hotcell.run(code).stdout == "é\ufffd!"


def test_files_params_limits_env_and_labels_reach_the_run(hotcell: Hotcell) -> None:
    code = "import json, os, helper; print(helper.x, json.load(open('/inputs/params.json'))['n'], os.environ['APP_X'])"
    result = hotcell.run(
        code,
        files={"helper.py": "x = 1", "data/raw.bin": b"\xff"},
        params={"n": 2},
        env={"APP_X": "3"},
        labels={"team": "a"},
        limits={"timeout_seconds": 7},
    )
    assert result.stdout == "1 2 3\n", result.log
    assert result.record.labels == {"team": "a"}
    assert result.record.limits and result.record.limits.timeout_seconds == 7


def test_a_refusal_has_every_reason_and_an_id(hotcell: Hotcell) -> None:
    with pytest.raises(Refused) as refused:
        hotcell.run("1", limits={"timeout_seconds": 99999, "pids": 99999})
    assert {issue.path for issue in refused.value.issues} == {"limits.timeoutSeconds", "limits.pids"}
    assert refused.value.run and refused.value.code == "policy_refused" and not refused.value.retryable
    assert hotcell.run_by_id(refused.value.run).result().outcome == "rejected"


def test_the_same_idempotency_key_gives_the_same_run(hotcell: Hotcell) -> None:
    key = str(uuid.uuid4())
    first, second = (hotcell.submit("1", idempotency_key=key) for _ in "12")
    assert first.id == second.id


def test_the_time_to_wait_ends_the_waiting_and_cancel_ends_the_run(hotcell: Hotcell) -> None:
    run = hotcell.submit("import time; print('begun', flush=True); time.sleep(500)")
    for row in run.logs():
        assert (row.text or "").startswith("begun")
        break
    with pytest.raises(WaitTimeout, match=run.id):
        run.result(timeout=0.5)
    run.cancel("not needed")
    result = run.result()
    assert result.outcome == "cancelled" and "not needed" in result.reason
    run.cancel()


def test_logs_follow_a_run_and_go_on_behind_a_row(hotcell: Hotcell) -> None:
    run = hotcell.submit("import time\nfor i in range(4): print(i, flush=True); time.sleep(.05)")
    rows = list(run.logs())
    assert "".join(row.text or "" for row in rows) == "0\n1\n2\n3\n"
    assert [row.seq for row in run.logs(after=rows[0].seq)] == [row.seq for row in rows[1:]]


def test_rerun_is_a_new_run_of_the_same_request(hotcell: Hotcell) -> None:
    first = hotcell.submit("import json; print(json.load(open('/inputs/params.json')))", params={"a": 1})
    assert first.result().stdout == "{'a': 1}\n"
    again = first.rerun(params={"a": 2})
    assert again.id != first.id and again.result().stdout == "{'a': 2}\n"


def test_a_chain_of_runs_has_one_working_folder(hotcell: Hotcell) -> None:
    first = hotcell.run("open('n', 'w').write('1')", workspace="@empty")
    assert first.workspace and first.workspace.after, first.reason
    second = hotcell.run("print(open('n').read())", workspace=first.workspace.after)
    assert second.stdout == "1\n" and second.workspace and second.workspace.before == first.workspace.after


def test_what_does_not_exist_is_not_found(hotcell: Hotcell) -> None:
    with pytest.raises(NotFound):
        hotcell.run_by_id("01890000-0000-7000-8000-000000000000").result()


def test_an_unknown_option_is_named(hotcell: Hotcell) -> None:
    with pytest.raises(TypeError, match="unknown option network"):
        hotcell.run("1", network="host")  # type: ignore[call-arg]


def test_policies_are_listed_and_shown(hotcell: Hotcell) -> None:
    assert "sealed" in [policy.name for policy in hotcell.policies().policies]
    assert hotcell.policy("sealed").policy.limits.timeout_seconds.max == 600
