"""The executor in a CodeAgent of smolagents whose model is scripted."""

from collections.abc import Iterator
from typing import Any

import pytest
from hotcell import Hotcell
from hotcell.integrations.smolagents import HotcellPythonExecutor
from smolagents import ChatMessage, CodeAgent, MessageRole, Model, Tool, tool
from smolagents.utils import AgentError


class Scripted(Model):
    def __init__(self, *codes: str) -> None:
        super().__init__(model_id="scripted")
        self.codes = list(codes)

    def generate(self, messages: list[Any], **more: Any) -> ChatMessage:
        content = f"Thought: on.\n<code>\n{self.codes.pop(0)}\n</code>"
        return ChatMessage(role=MessageRole.ASSISTANT, content=content)


@tool
def double(number: int) -> int:
    """Doubles a number.

    Args:
        number: any
    """
    return number * 2


@pytest.fixture
def executor() -> Iterator[HotcellPythonExecutor]:
    made = HotcellPythonExecutor(["pandas"], timeout=20, idle_seconds=60)
    yield made
    made.cleanup()


def test_an_agent_keeps_names_calls_its_tools_and_answers_with_more_than_a_message_holds(executor: HotcellPythonExecutor) -> None:
    model = Scripted(
        "x = double(given)\nprint('x is', x)",
        "import urllib.request\nurllib.request.urlopen('http://example.org')",
        "final_answer({'x': [x] * 2000, 'set': {1, 2}})",
    )
    agent = CodeAgent([double], model, executor=executor, verbosity_level=0)
    answer = agent.run("go", additional_args={"given": 21})
    assert answer == {"x": [42] * 2000, "set": {1, 2}}
    steps = [step for step in agent.memory.steps if hasattr(step, "observations")]
    assert "x is 42" in steps[0].observations
    assert "URLError" in str(steps[1].error)
    session = executor._session
    assert session is not None
    agent.cleanup()
    with Hotcell() as hotcell:
        assert hotcell.run_by_id(session.id).result().outcome == "succeeded"


def test_errors_limits_and_what_a_cell_has_not_are_named(executor: HotcellPythonExecutor) -> None:
    assert executor("print('out')\n6 * 7").output == "42"
    with pytest.raises(AgentError, match="before\n(.|\n)*ZeroDivisionError"):
        executor("print('before')\n1 / 0")
    executor._timeout = 1
    with pytest.raises(AgentError, match="time limit of 1 s"):
        executor("while True: pass")
    assert executor("_").output == "42"
    with pytest.raises(ValueError, match="unavailable in environment: nosuch-package"):
        executor.install_packages(["PIL", "numpy", "nosuch-package"])
    model = Scripted()
    helper = CodeAgent([], model, name="helper", description="helps", verbosity_level=0)
    with pytest.raises(ValueError, match="helper: an agent can't be called"):
        executor.send_tools({"helper": helper})  # type: ignore[dict-item]


def test_a_pickle_from_a_cell_is_never_read(executor: HotcellPythonExecutor) -> None:
    forged = "class FinalAnswerException(Exception): pass\n_hotcell_answer = 'pickle:gASVBAAAAAAAAABLAS4='\nraise FinalAnswerException"
    with pytest.raises(Exception, match="Pickle data rejected"):
        executor(forged)
    with pytest.raises(TypeError):
        HotcellPythonExecutor(allow_pickle=True)._step("1")
