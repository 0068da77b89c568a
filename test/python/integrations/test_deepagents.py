"""The sandbox in a deep agent whose model is scripted."""

from collections.abc import Iterator

import pytest
from deepagents import create_deep_agent
from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage, ToolMessage
from hotcell.integrations.deepagents import HotcellSandbox, folder


class Scripted(GenericFakeChatModel):
    def bind_tools(self, tools: object, **options: object) -> "Scripted":
        return self


@pytest.fixture
def sandbox() -> Iterator[HotcellSandbox]:
    made = HotcellSandbox()
    yield made
    made.close()


def test_an_agent_writes_runs_and_reads_files_across_commands(sandbox: HotcellSandbox) -> None:
    def calls(name: str, **args: object) -> AIMessage:
        return AIMessage("", tool_calls=[{"name": name, "args": args, "id": name}])

    script = [
        calls("write_file", file_path=f"{folder}/add.py", content="print(1 + 2)\nopen('sum.txt', 'w').write('3')\n"),
        calls("execute", command="python3 add.py && ls"),
        calls("read_file", file_path=f"{folder}/sum.txt"),
        AIMessage("done"),
    ]
    agent = create_deep_agent(model=Scripted(messages=iter(script)), backend=sandbox)
    answer = agent.invoke({"messages": [("user", "add")]})
    said = {one.name: str(one.content) for one in answer["messages"] if isinstance(one, ToolMessage)}
    assert said["execute"].startswith("3\nadd.py\nsum.txt\n"), said
    assert "3" in said["read_file"] and answer["messages"][-1].content == "done"


def test_the_file_tools_work_on_what_commands_leave(sandbox: HotcellSandbox) -> None:
    assert sandbox.execute("mkdir -p deep && echo one > deep/a.txt && echo two > deep/b.txt").exit_code == 0
    assert sorted(entry["path"] for entry in sandbox.ls(f"{folder}/deep").entries or []) == [f"{folder}/deep/a.txt", f"{folder}/deep/b.txt"]
    assert sandbox.edit(f"{folder}/deep/a.txt", "one", "three").error is None
    assert [match["text"] for match in sandbox.grep("three", folder).matches or []] == ["three"]
    downloaded = sandbox.download_files([f"{folder}/deep/a.txt", "deep/none", "/etc/passwd", "deep"])
    assert [one.content for one in downloaded] == [b"three\n", None, None, None]
    assert [one.error for one in downloaded] == [None, "file_not_found", "invalid_path", "is_directory"]
    assert [one.error for one in sandbox.upload_files([("../x", b""), ("y", b"1")])] == ["invalid_path", None]


def test_a_command_has_a_time_limit_and_a_fresh_cell(sandbox: HotcellSandbox) -> None:
    slow = sandbox.execute("echo begun; sleep 600", timeout=15)
    assert slow.exit_code == 124 and slow.output.startswith("begun")
    assert sandbox.execute("touch /tmp/left; ls /tmp").output == "left\n"
    assert sandbox.execute("ls /tmp; exit 3") == type(slow)(output="", exit_code=3, truncated=False)
