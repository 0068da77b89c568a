"""Airflow's own classes, as its worker and its triggerer call them."""

import importlib
import os
from types import SimpleNamespace
from typing import Any

import pytest
from airflow.providers.common.ai.sandbox import SandboxSpec, SandboxTerminalError
from airflow.providers.common.ai.toolsets.sandbox import SandboxToolset
from airflow.sdk.exceptions import AirflowException, AirflowFailException, TaskDeferred
from cutting_proxy import Proxy
from hotcell import ApiUnreachable, Hotcell
from hotcell.integrations.airflow import HotcellOperator
from hotcell.integrations.airflow_sandbox import HotcellSandboxBackend
from pydantic_ai import Agent
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart, ToolReturnPart
from pydantic_ai.models.function import AgentInfo, FunctionModel


def a_try(task: str, number: int = 1, retries: int = 0, cleared_at: int = 0) -> dict[str, Any]:
    """As Airflow counts: to clear a task gives it its retries again, behind the tries that it had."""
    ti = SimpleNamespace(dag_id="dag", task_id=task, run_id="manual", map_index=-1)
    ti.try_number, ti.max_tries = number, cleared_at + retries
    return {"ti": ti}


async def run_task(operator: HotcellOperator, context: dict[str, Any]) -> tuple[Any, Any]:
    """Executes until it defers; the trigger comes out of Airflow's database, and its event wakes the task."""
    with pytest.raises(TaskDeferred) as deferred:
        operator.execute(context)
    classpath, kwargs = deferred.value.trigger.serialize()
    module, _, name = classpath.rpartition(".")
    trigger = getattr(importlib.import_module(module), name)(**kwargs)
    (event,) = [event async for event in trigger.run()]
    return kwargs, getattr(operator, deferred.value.method_name)(context, event.payload)


async def test_an_operator_submits_defers_and_returns_what_the_run_left() -> None:
    code = "import json; open('/outputs/x', 'w').write(json.load(open('/inputs/params.json'))['day'])"
    operator = HotcellOperator(task_id="report", code=code, job_params={"day": "monday"})
    kwargs, returned = await run_task(operator, a_try("report"))
    assert list(kwargs) == ["run_id"]
    assert returned["outcome"] == "succeeded" and [one["path"] for one in returned["outputs"]] == ["x"]
    # A worker that died before it deferred submits the same try again: it is the same run.
    assert (await run_task(operator, a_try("report")))[1]["run"] == returned["run"]
    # A person who clears the task asks for a new one.
    assert (await run_task(operator, a_try("report", 2, cleared_at=1)))[1]["run"] != returned["run"]


def submitted(operator: HotcellOperator, context: dict[str, Any]) -> str:
    with pytest.raises(TaskDeferred) as deferred:
        operator.execute(context)
    return str(deferred.value.trigger.run_id)


def test_a_try_that_lost_the_api_leaves_its_run_to_the_next_one(monkeypatch: pytest.MonkeyPatch) -> None:
    code = "import time; print('begun', flush=True); time.sleep(1000)"
    operator = HotcellOperator(task_id="away", code=code, retries=2, labels={"task": "away"})
    api = os.environ["HOTCELL_URL"]
    proxy = Proxy()

    def cut(piece: bytes) -> int | None:
        if b" 202 " not in piece:
            return None
        # The run is accepted; its answer is lost, and the API stays away for longer than the try bears.
        proxy.away = True
        return 0

    proxy.cut = cut
    with monkeypatch.context() as away:
        away.setenv("HOTCELL_URL", proxy.url)
        away.setitem(Hotcell.__init__.__kwdefaults__, "patience", 0.5)
        with pytest.raises(ApiUnreachable):
            operator.execute(a_try("away", 1, retries=2))
    proxy.close()
    run = submitted(operator, a_try("away", 2, retries=2))
    # The trigger of that try lost the API, too.
    assert submitted(operator, a_try("away", 3, retries=2)) == run
    with Hotcell(api) as hotcell:
        assert [one.run for one in hotcell.runs(label=["task=away"]).runs] == [run]
        hotcell.run_by_id(run).cancel()


async def test_a_try_behind_one_whose_program_failed_is_a_new_run_and_not_a_second_at_once() -> None:
    operator = HotcellOperator(task_id="again", code="exit 3", language="bash", retries=2)
    runs = []
    for number in (1, 2, 3):
        runs.append(submitted(operator, a_try("again", number, retries=2)))
        with Hotcell() as hotcell:
            assert hotcell.run_by_id(runs[-1]).result().outcome == "failed"
    assert len(set(runs)) == 3


async def test_a_try_that_asks_for_something_else_ends_the_run_of_the_try_before() -> None:
    wait = HotcellOperator(task_id="edited", code="import time; time.sleep(1000)", retries=1)
    before = submitted(wait, a_try("edited", 1, retries=1))
    _, returned = await run_task(HotcellOperator(task_id="edited", code="1", retries=1), a_try("edited", 2, retries=1))
    assert returned["run"] != before
    with Hotcell() as hotcell:
        assert hotcell.run_by_id(before).result().outcome == "cancelled"


async def test_a_program_that_fails_fails_the_task_and_a_refusal_is_not_tried_again() -> None:
    with pytest.raises(AirflowException, match="failed: .*exit code 3"):
        await run_task(HotcellOperator(task_id="fails", code="exit 3", language="bash"), a_try("fails"))
    with pytest.raises(AirflowFailException, match="nosuch"):
        HotcellOperator(task_id="refused", code="1", policy="nosuch").execute(a_try("refused"))


async def test_a_task_that_is_killed_while_it_is_deferred_ends_its_run() -> None:
    operator = HotcellOperator(task_id="long", code="import time; time.sleep(1000)")
    with pytest.raises(TaskDeferred) as deferred:
        operator.execute(a_try("long"))
    await deferred.value.trigger.on_kill()
    with Hotcell() as hotcell:
        assert hotcell.run_by_id(deferred.value.trigger.run_id).result().outcome == "cancelled"


async def test_an_agent_of_airflow_works_in_a_sealed_sandbox() -> None:
    script = [
        ToolCallPart("write_file", {"path": "add.py", "content": "print(1 + 2)"}),
        ToolCallPart("run_command", {"command": "python3 add.py && echo kept > note && exit 3"}),
        ToolCallPart("read_file", {"path": "note"}),
        TextPart("done"),
    ]

    def model(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        return ModelResponse(parts=[script.pop(0)])

    agent = Agent(FunctionModel(model), toolsets=[SandboxToolset(HotcellSandboxBackend())])
    answer = await agent.run("add")
    assert answer.output == "done"
    parts = [part for message in answer.all_messages() for part in message.parts]
    said = {part.tool_name: str(part.content) for part in parts if isinstance(part, ToolReturnPart)}
    assert "3" in said["run_command"] and "kept" in said["read_file"], said


def test_a_sandbox_that_can_not_be_as_asked_is_refused() -> None:
    backend = HotcellSandboxBackend()
    for spec in [SandboxSpec(block_network=False), SandboxSpec(env={"A": "b"}), SandboxSpec(owner="me")]:
        with pytest.raises(SandboxTerminalError, match="gives no sandbox"):
            backend.create(spec=spec)
    sandbox = backend.create(spec=SandboxSpec())
    ran = backend.run_command(sandbox, "yes | head -c 5000", timeout=30, max_output_bytes=100)
    assert (len(ran.stdout), ran.stdout_truncated, ran.exit_code) == (100, True, 0)
    backend.destroy(sandbox)
    backend.destroy(sandbox)
    with pytest.raises(SandboxTerminalError, match="destroyed"):
        backend.run_command(sandbox, "true", timeout=1, max_output_bytes=1)
