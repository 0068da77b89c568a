"""Which run a try of a task waits for. However a try ended, the run that it submitted may go on: the next one takes it up."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import Any, Optional

from hotcell.client import Hotcell, Run
from hotcell.failures import HotcellError, RunLost

Submit = Callable[[str], Run]


def run_of_task(hotcell: Hotcell, submit: Submit, ti: Any, retries: int) -> Run:
    """`submit` takes an idempotency key. A task has never two runs at once, nor more runs than tries.

    The keys are the same for every try. The API answers the run that it accepted under a key, even if that answer was
    lost before. Behind a run that did not succeed comes the next key, and each try adds one: the last is this try's own.
    """
    # To clear a task gives it all of its retries again, and asks for a new run.
    first = ti.max_tries - retries + 1
    tries = max(1, ti.try_number - first + 1)
    for number in range(tries - 1):
        run = _taken_up(hotcell, submit, _key(ti, first, number))
        if run is not None:
            return run
    return submit(_key(ti, first, tries - 1))


def _taken_up(hotcell: Hotcell, submit: Submit, key: str) -> Optional[Run]:
    """The run under this key, unless it ended without success."""
    try:
        run = submit(key)
    except HotcellError as error:
        if error.code != "idempotency_mismatch" or error.run is None:
            raise
        # The task asks for something else than before: Airflow would never learn of the other run's end.
        other = hotcell.run_by_id(error.run)
        other.cancel("Airflow tries the task again with another request")
        _wait_for_end(other)
        return None
    return None if run.is_finished() and not _succeeded(run) else run


def _wait_for_end(run: Run) -> None:
    try:
        run.result(progress=False)
    except RunLost:
        pass


def _succeeded(run: Run) -> bool:
    try:
        return run.result(progress=False).ok
    except RunLost:
        return False


def _key(ti: Any, first: int, number: int) -> str:
    named = [ti.dag_id, ti.task_id, ti.run_id, str(ti.map_index), str(first), str(number)]
    return "airflow-" + hashlib.sha256("\0".join(named).encode()).hexdigest()
