"""The executor in an agent of the OpenAI Agents SDK whose model is scripted."""

from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest
from agents import Agent, Model, ModelResponse, RunConfig, Runner, ShellTool, Usage
from openai.types.responses import ResponseFunctionShellToolCall, ResponseOutputMessage, ResponseOutputText
from openai.types.responses.response_function_shell_tool_call import Action
from hotcell.integrations.openai_agents import HotcellShell


class Scripted(Model):
    def __init__(self, answers: list[Any]) -> None:
        self.answers = answers
        self.seen: list[Any] = []

    async def get_response(self, system_instructions: Any, input: Any, *rest: Any, **more: Any) -> ModelResponse:
        self.seen = input
        return ModelResponse(output=[self.answers.pop(0)], usage=Usage(), response_id=None)

    def stream_response(self, *rest: Any, **more: Any) -> AsyncIterator[Any]:
        raise NotImplementedError


def shell_call(*commands: str, timeout_ms: int | None = None) -> ResponseFunctionShellToolCall:
    action = Action(commands=list(commands), timeout_ms=timeout_ms)
    return ResponseFunctionShellToolCall(
        id="s", call_id=f"call-{hash(commands)}", type="shell_call", status="completed", action=action
    )


@pytest.fixture
def shell() -> Iterator[HotcellShell]:
    made = HotcellShell()
    yield made
    made.close()


async def test_an_agent_runs_commands_in_one_folder(shell: HotcellShell) -> None:
    text = ResponseOutputText(text="done", type="output_text", annotations=[])
    last = ResponseOutputMessage(id="m", content=[text], role="assistant", status="completed", type="message")
    model = Scripted(
        [
            shell_call("echo data > file; echo out; echo err >&2; exit 3", "cat file"),
            shell_call("sleep 600", timeout_ms=1000),
            last,
        ]
    )
    agent = Agent("coder", model=model, tools=[ShellTool(executor=shell)])
    result = await Runner.run(agent, "go", run_config=RunConfig(tracing_disabled=True))
    assert result.final_output == "done"
    outputs = [output for item in model.seen if item.get("type") == "shell_call_output" for output in item["output"]]
    shown = [(one["stdout"], one["stderr"], one["outcome"]) for one in outputs]
    assert shown[:2] == [
        ("out\n", "err\n", {"type": "exit", "exit_code": 3}),
        ("data\n", "", {"type": "exit", "exit_code": 0}),
    ]
    assert shown[2][2] == {"type": "timeout"}
