"""The tool in an agent of agent-framework whose model is scripted."""

from collections.abc import Mapping, Sequence
from typing import Any

from agent_framework import Agent, BaseChatClient, ChatResponse, Content, FunctionInvocationLayer, Message
from hotcell.integrations.agent_framework import code_tool


class Scripted(FunctionInvocationLayer, BaseChatClient):
    def __init__(self, answers: list[Content]) -> None:
        super().__init__()
        self.answers = answers
        self.seen: list[Message] = []

    async def _inner_get_response(
        self, *, messages: Sequence[Message], stream: bool, options: Mapping[str, Any], **more: Any
    ) -> ChatResponse:
        self.seen = list(messages)
        return ChatResponse(messages=[Message("assistant", [self.answers.pop(0)])])


def call(number: int, **arguments: str) -> Content:
    return Content.from_function_call(call_id=str(number), name="run_code", arguments=arguments)


async def test_an_agent_runs_code_in_sealed_cells() -> None:
    model = Scripted(
        [
            call(1, code="print(6 * 7)"),
            call(2, code="echo out; exit 3", language="bash"),
            call(3, code="print(1)", language="cobol"),
            Content.from_text("done"),
        ]
    )
    answer = await Agent(model, tools=[code_tool()]).run("go")
    assert answer.text == "done"
    results = [str(content.result) for message in model.seen for content in message.contents if content.type == "function_result"]
    assert results[0] == "42\n"
    assert results[1] == "out\n\n[exit code: 3]"
    assert results[2].startswith("Refused by the policy") and "cobol" in results[2]
