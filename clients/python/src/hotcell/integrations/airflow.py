"""An Airflow operator that submits a run, and defers until its end: while the run goes on, no worker of Airflow is held."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from typing import Any, Optional

from airflow.sdk import BaseOperator
from airflow.sdk.exceptions import AirflowException, AirflowFailException
from airflow.triggers.base import BaseTrigger, TriggerEvent

from hotcell.async_client import AsyncHotcell
from hotcell.client import Hotcell, Run
from hotcell.failures import HotcellError, Refused
from hotcell.integrations.airflow_tries import run_of_task


class HotcellOperator(BaseOperator):  # type: ignore[misc]
    """Address and key come from HOTCELL_URL and HOTCELL_API_KEY, in the worker and in the triggerer: Airflow's database gets
    no key. `limits`, `inputs`, `job_params` and the others are those of Hotcell.submit. Returns the run's id, its outcome and
    its outputs. A program that fails fails the task, and Airflow's next try then submits a new run. A try that fails for
    another reason, as when the API is away, leaves its run to the next try."""

    template_fields = ("code", "inputs", "job_params", "labels", "publish")

    def __init__(
        self,
        *,
        code: str,
        language: str = "python",
        policy: Optional[str] = None,
        image: Optional[str] = None,
        inputs: Optional[Mapping[str, str]] = None,
        job_params: Optional[Mapping[str, Any]] = None,
        limits: Optional[Mapping[str, float]] = None,
        labels: Optional[Mapping[str, str]] = None,
        publish: Optional[str] = None,
        **options: Any,
    ) -> None:
        super().__init__(**options)
        self.code = code
        self.language = language
        self.policy = policy
        self.image = image
        self.inputs = inputs
        self.job_params = job_params
        self.limits = limits
        self.labels = labels
        self.publish = publish

    def execute(self, context: Any) -> None:
        named = {"policy": self.policy, "image": self.image, "inputs": self.inputs, "params": self.job_params}
        others = {"limits": self.limits, "labels": self.labels, "publish": self.publish}
        options: Any = {name: value for name, value in {**named, **others}.items() if value}
        with Hotcell() as hotcell:

            def submit(key: str) -> Run:
                return hotcell.submit(self.code, language=self.language, idempotency_key=key, **options)

            try:
                run = run_of_task(hotcell, submit, context["ti"], self.retries or 0)
            except Refused as refused:
                raise AirflowFailException(f"The policy refused the run: {refused}") from refused
        self.log.info("This try waits for run %s of Hotcell", run.id)
        self.defer(trigger=HotcellTrigger(run.id), method_name="execute_complete")

    def execute_complete(self, context: Any, event: Mapping[str, Any]) -> dict[str, Any]:
        if "error" in event:
            raise AirflowException(f"Run {event['run']}: {event['error']}")
        with Hotcell() as hotcell:
            result = hotcell.run_by_id(event["run"]).result(progress=False)
        for line in result.log.splitlines():
            self.log.info("%s", line)
        if not result.ok:
            raise AirflowException(f"Run {result.run} {result.outcome}: {result.reason}")
        outputs = [{"path": file.path, "size": file.size, "sha256": file.sha256} for file in result.outputs]
        return {"run": result.run, "outcome": result.outcome, "outputs": outputs, "snapshot": result.outputs.snapshot}


class HotcellTrigger(BaseTrigger):  # type: ignore[misc]
    """Waits for a run in the triggerer."""

    def __init__(self, run_id: str) -> None:
        super().__init__()
        self.run_id = run_id

    def serialize(self) -> tuple[str, dict[str, Any]]:
        return "hotcell.integrations.airflow.HotcellTrigger", {"run_id": self.run_id}

    async def run(self) -> AsyncIterator[TriggerEvent]:
        try:
            async with AsyncHotcell() as hotcell:
                result = await hotcell.run_by_id(self.run_id).result(progress=False)
            yield TriggerEvent({"run": self.run_id, "outcome": result.outcome})
        except HotcellError as error:
            yield TriggerEvent({"run": self.run_id, "error": str(error)})

    async def on_kill(self) -> None:
        """A deferred task that a person clears or marks ends its run."""
        async with AsyncHotcell() as hotcell:
            await hotcell.run_by_id(self.run_id).cancel("Airflow ended the task")
