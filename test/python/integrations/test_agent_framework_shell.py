"""The shell of agent-framework, by itself and in an agent of its harness whose model is scripted."""

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Any

import pytest
from agent_framework import BaseChatClient, ChatResponse, Content, FunctionInvocationLayer, Message, create_harness_agent
from agent_framework_tools.shell import ShellEnvironmentProviderOptions, ShellExecutionError, ShellExecutor
from hotcell import Hotcell
from hotcell.integrations.agent_framework_shell import HotcellShellTool


@pytest.fixture
async def shell() -> AsyncIterator[HotcellShellTool]:
    async with HotcellShellTool() as made:
        yield made


class Scripted(FunctionInvocationLayer, BaseChatClient):
    def __init__(self, answers: list[Content]) -> None:
        super().__init__()
        self.answers = answers
        self.seen: list[Message] = []

    @staticmethod
    def get_shell_tool(*, func: Any) -> Any:
        return func

    def _inner_get_response(
        self, *, messages: Sequence[Message], stream: bool, options: Mapping[str, Any], **more: Any
    ) -> Any:
        async def answer() -> ChatResponse:
            self.seen = list(messages)
            return ChatResponse(messages=[Message("assistant", [self.answers.pop(0)])])

        return answer()


async def test_an_agent_of_the_harness_runs_commands_in_one_folder(shell: HotcellShellTool) -> None:
    def call(number: int, command: str) -> Content:
        return Content.from_function_call(call_id=str(number), name="run_shell", arguments={"command": command})

    model = Scripted([call(1, "echo data > file; exit 3"), call(2, "cat file; id -u | grep -v '^0$'"), Content.from_text("done")])
    options = ShellEnvironmentProviderOptions(probe_tools=())
    agent = create_harness_agent(
        model, shell_executor=shell, shell_environment_provider_options=options, disable_web_search=True
    )
    assert (await agent.run("go", session=agent.create_session())).text == "done"
    results = [str(content.result) for message in model.seen for content in message.contents if content.type == "function_result"]
    assert results[0] == "exit_code: 3"
    assert results[1].startswith("data\n") and results[1].endswith("exit_code: 0")


async def test_long_output_keeps_both_ends_and_a_time_limit_what_was_written(shell: HotcellShellTool) -> None:
    assert isinstance(shell, ShellExecutor)
    long = await shell.run("seq 100000; echo end >&2")
    assert long.truncated and long.stdout.startswith("1\n2\n") and long.stdout.endswith("\n100000\n")
    slow = await shell.run("echo begun; sleep 600", timeout=1)
    assert (slow.timed_out, slow.stdout, slow.exit_code) == (True, "begun\n", 124)


async def test_a_refusal_is_an_error_of_the_shell() -> None:
    async with HotcellShellTool(policy="nosuch") as refused:
        with pytest.raises(ShellExecutionError, match="nosuch"):
            await refused.run("true")


async def test_a_cancelled_command_ends_its_run(shell: HotcellShellTool) -> None:
    with Hotcell() as hotcell:
        before = {row.run for row in hotcell.runs().runs}
        asked = asyncio.create_task(shell.run("echo begun; sleep 600"))
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
