"""The environment in an AG2 agent whose model is scripted."""

import asyncio
import json
from collections.abc import Iterator

import pytest
from ag2 import Agent
from ag2.events import ModelResponse, ToolCallEvent, ToolCallsEvent
from ag2.testing import TestConfig
from ag2.tools import SandboxCodeTool
from hotcell import Hotcell
from hotcell.integrations.ag2 import HotcellCodeEnvironment


@pytest.fixture
def environment() -> Iterator[HotcellCodeEnvironment]:
    made = HotcellCodeEnvironment()
    yield made
    made.close()


async def test_an_agent_runs_code_in_fresh_cells(environment: HotcellCodeEnvironment) -> None:
    def call(code: str, language: str) -> ToolCallEvent:
        return ToolCallEvent(name="run_code", arguments=json.dumps({"code": code, "language": language}))

    config = TestConfig(
        call("print(6 * 7); open('left', 'w')", "python"),
        call("ls; echo err >&2; exit 3", "bash"),
        "done",
    )
    agent = Agent("coder", config=config, tools=[SandboxCodeTool(environment)])
    answer = await agent.ask("go")
    assert answer.body == "done"
    history = str(list(await answer.history.get_events()))
    assert "42" in history
    assert "err\\n[exit code: 3]" in history and "left" not in history.split("err\\n[exit code: 3]")[0].split("42")[-1]


async def test_a_limit_and_a_refusal_are_answers(environment: HotcellCodeEnvironment) -> None:
    endless = HotcellCodeEnvironment(timeout=1)
    result = await endless.run("print('begun', flush=True)\nwhile True: pass", "python")
    assert result.exit_code == 124 and result.output.startswith("begun\n") and "time" in result.output
    refused = await HotcellCodeEnvironment(policy="nosuch").run("print(1)", "python")
    assert refused.exit_code == 126 and "nosuch" in refused.output


async def test_a_cancelled_call_ends_its_run(environment: HotcellCodeEnvironment) -> None:
    with Hotcell() as hotcell:
        before = {row.run for row in hotcell.runs().runs}
        code = "import time\nprint('begun', flush=True)\ntime.sleep(1000)"
        asked = asyncio.create_task(environment.run(code, "python"))
        new: set[str] = set()
        while not new:
            await asyncio.sleep(0)
            new = {row.run for row in hotcell.runs().runs} - before
        run = hotcell.run_by_id(new.pop())
        next(iter(run.logs()))
        asked.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asked
        assert run.result().outcome == "cancelled"
