import os
import signal

from hotcell import Hotcell


def test_a_run_whose_worker_is_killed_ends_in_one_result_of_another_worker(hotcell: Hotcell) -> None:
    run = hotcell.submit(
        """
import time
print("begun", flush=True)
open("/outputs/x", "w").write("y")
time.sleep(2)
print("done")
"""
    )
    for row in run.logs():
        assert row.text == "begun\n"
        os.kill(int(os.environ["TEST_WORKER"]), signal.SIGKILL)
        break
    result = run.result()
    assert (result.outcome, result.stdout) == ("succeeded", "begun\ndone\n")
    assert [one.worker for one in result.record.attempts][-1] == "two"
    assert result.outputs.bytes("x") == b"y"
    assert [one.run for one in hotcell.runs().runs].count(run.id) == 1
