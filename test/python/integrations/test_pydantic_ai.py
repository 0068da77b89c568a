"""The workspace by pydantic-ai's own conformance suite, and in an agent whose model is scripted."""

from collections.abc import Awaitable, Callable, Iterator

import pytest
from hotcell import Hotcell
from hotcell.integrations.pydantic_ai import HotcellWorkspace, HotcellWorkspaceBackend
from pydantic_ai import Agent, ModelMessage, ModelResponse, RunContext, TextPart, ToolCallPart
from pydantic_ai.models.function import AgentInfo, FunctionModel
from pydantic_ai.workspaces import WorkspaceBackend, WorkspaceError, WorkspaceOutputLimitError, WorkspaceRef, WorkspaceUnavailableError
from pydantic_ai.workspaces.conformance import WorkspaceBackendSuite


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="module")
def shared() -> Iterator[HotcellWorkspaceBackend]:
    # The whole suite takes more steps than the usual policy gives a session.
    backend = HotcellWorkspaceBackend(policy="analytics")
    yield backend
    if backend.ref is not None:
        with Hotcell() as hotcell:
            hotcell.run_by_id(backend.ref.id).cancel()


class TestConformance(WorkspaceBackendSuite):  # type: ignore[misc]
    @pytest.fixture
    def backend(self, shared: HotcellWorkspaceBackend) -> WorkspaceBackend:
        return shared

    @pytest.fixture
    def fresh_backend(self) -> Callable[[], WorkspaceBackend]:
        return lambda: HotcellWorkspaceBackend(idle_seconds=30)

    @pytest.fixture
    def attach_backend(self) -> Callable[[WorkspaceRef], WorkspaceBackend]:
        return lambda ref: HotcellWorkspaceBackend(ref=ref)

    @pytest.fixture
    def destroy_environment(self) -> Callable[[WorkspaceBackend], Awaitable[None]]:
        async def destroy(backend: WorkspaceBackend) -> None:
            assert isinstance(backend, HotcellWorkspaceBackend)
            await backend.finish()

        return destroy


async def test_an_agent_works_in_a_cell_and_a_later_conversation_finds_its_files() -> None:
    script = [("sh", "echo one > file; hostname -I; id -u"), ("sh", "cat file"), ("sh", "exit 3")]

    def model(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        said = [part for message in messages for part in message.parts if part.part_kind == "tool-return"]
        if len(said) in (2, 3) and messages[-1].parts[-1].part_kind == "tool-return":
            return ModelResponse(parts=[TextPart(str([part.content for part in said]))])
        tool, command = script[len(said)]
        return ModelResponse(parts=[ToolCallPart(tool, {"command": command})])

    agent = Agent(FunctionModel(model), capabilities=[HotcellWorkspace(idle_seconds=60)])

    @agent.tool
    async def sh(ctx: RunContext[None], command: str) -> str:
        ended = await ctx.workspace.run(command, shell=True)
        return f"{ended.exit_code} {ended.stdout}"

    first = await agent.run("go")
    assert "'0 one\\n'" in first.output and "'0 \\n0\\n'" not in first.output
    ref = first.workspace.ref
    assert ref is not None and ref.provider == "hotcell"
    # The history names the session: no other provider's workspace, and no new one.
    second = await agent.run("and then", message_history=first.all_messages())
    assert second.workspace.ref == ref and "'3 '" in second.output
    assert await second.workspace.read_text("file") == "one\n"
    assert isinstance(second.workspace.backend, HotcellWorkspaceBackend)
    await second.workspace.backend.finish()
    with Hotcell() as hotcell:
        assert hotcell.run_by_id(ref.id).result().outcome == "succeeded"


async def test_what_is_too_much_or_gone_is_said_by_its_name(shared: HotcellWorkspaceBackend) -> None:
    with pytest.raises(WorkspaceOutputLimitError) as much:
        await shared.run(["sh", "-c", "yes"])
    assert much.value.stdout.startswith("y\ny\n") and len(much.value.stdout) == 64 * 1024
    with pytest.raises(ValueError, match="absolute"):
        await shared.read_bytes("file")
    for foreign in (WorkspaceRef(provider="local", id="/etc"), WorkspaceRef(provider="hotcell", id="../runs")):
        with pytest.raises(WorkspaceUnavailableError, match="no session of Hotcell"):
            await HotcellWorkspaceBackend(ref=foreign).working_dir()
    unknown = WorkspaceRef(provider="hotcell", id="01a1f79a-b81a-74ad-a170-920bd0992f1b")
    with pytest.raises(WorkspaceUnavailableError, match="over"):
        await HotcellWorkspaceBackend(ref=unknown).working_dir()
    assert HotcellWorkspace().get_workspace(None, ref=WorkspaceRef(provider="local", id="/")) is None


async def test_commands_that_kill_the_interpreter_are_named_and_the_next_one_runs(shared: HotcellWorkspaceBackend) -> None:
    with pytest.raises(WorkspaceError, match="interpreter"):
        await shared.run("kill -9 $PPID; sleep 600", shell=True)
    assert (await shared.run(["echo", "on"])).stdout == "on\n"
