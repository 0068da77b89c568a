"""AutoGen's agents and teams with our executor and a scripted model. Nobody calls start or stop, as they do not."""

import json
from pathlib import Path
from typing import Any

from autogen_agentchat.agents import AssistantAgent, CodeExecutorAgent
from autogen_agentchat.base import TaskResult
from autogen_agentchat.conditions import MaxMessageTermination
from autogen_agentchat.messages import ToolCallExecutionEvent
from autogen_agentchat.teams import MagenticOneGroupChat, RoundRobinGroupChat
from autogen_core import CancellationToken, FunctionCall
from autogen_core.models import CreateResult, ModelFamily, RequestUsage
from autogen_ext.models.replay import ReplayChatCompletionClient
from autogen_ext.tools.code_execution import PythonCodeExecutionTool

from hotcell.autogen import HotcellCommandLineCodeExecutor

info: Any = {"vision": False, "function_calling": True, "json_output": True, "family": ModelFamily.UNKNOWN, "structured_output": False}
program = "```python\nopen('made.txt', 'w').write('by the model'); print(6 * 7)\n```"


def said(result: TaskResult) -> str:
    return "\n".join(message.to_text() for message in result.messages)


async def test_a_team_of_a_coder_and_an_executor(tmp_path: Path) -> None:
    coder = AssistantAgent("coder", ReplayChatCompletionClient([program, "fine"], model_info=info))
    executor = CodeExecutorAgent("executor", HotcellCommandLineCodeExecutor(work_dir=tmp_path))
    team = RoundRobinGroupChat([coder, executor], termination_condition=MaxMessageTermination(3))
    assert "42" in said(await team.run(task="compute"))
    assert (tmp_path / "made.txt").read_text() == "by the model"
    await team.reset()


async def test_an_agent_dumped_with_its_executor_and_loaded_again_runs(tmp_path: Path) -> None:
    executor = CodeExecutorAgent("executor", HotcellCommandLineCodeExecutor(work_dir=tmp_path))
    loaded = CodeExecutorAgent.load_component(executor.dump_component())
    result = await loaded.run(task=program)
    assert "42" in said(result)


async def test_an_assistant_that_calls_the_code_tool_several_times_at_once(tmp_path: Path) -> None:
    tool = PythonCodeExecutionTool(HotcellCommandLineCodeExecutor(work_dir=tmp_path))
    calls = [FunctionCall(str(n), json.dumps({"code": f"print({n} * 10)"}), tool.name) for n in (1, 2, 3)]
    usage = RequestUsage(prompt_tokens=0, completion_tokens=0)
    model = ReplayChatCompletionClient(
        [CreateResult(finish_reason="function_calls", content=calls, usage=usage, cached=False)], model_info=info
    )
    result = await AssistantAgent("assistant", model, tools=[tool]).run(task="compute", cancellation_token=CancellationToken())
    events = [message for message in result.messages if isinstance(message, ToolCallExecutionEvent)]
    assert [one.content for one in events[0].content] == ["10\n", "20\n", "30\n"]


async def test_magentic_one_lets_the_executor_speak(tmp_path: Path) -> None:
    def ledger(done: bool, speaker: str, say: str) -> str:
        answers = {
            "is_request_satisfied": done,
            "is_in_loop": False,
            "is_progress_being_made": True,
            "next_speaker": speaker,
            "instruction_or_question": say,
        }
        return json.dumps({name: {"reason": "scripted", "answer": answer} for name, answer in answers.items()})

    orchestrator = ReplayChatCompletionClient(
        ["facts", "plan", ledger(False, "coder", "write"), ledger(False, "executor", "run"), ledger(True, "executor", ""), "the answer"],
        model_info=info,
    )
    coder = AssistantAgent("coder", ReplayChatCompletionClient([program], model_info=info))
    executor = CodeExecutorAgent("executor", HotcellCommandLineCodeExecutor(work_dir=tmp_path))
    result = await MagenticOneGroupChat([coder, executor], model_client=orchestrator).run(task="compute")
    assert "42" in said(result) and "the answer" in said(result)
