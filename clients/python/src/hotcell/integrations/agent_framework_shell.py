"""A shell of Microsoft's agent-framework whose commands run in sealed cells, each in a fresh one, in one folder that they share:
`client.get_shell_tool(func=HotcellShellTool().as_function())`, or `create_harness_agent(client, shell_executor=HotcellShellTool())`."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, Optional

from agent_framework import FunctionTool
from agent_framework_tools.shell import ShellExecutionError, ShellResult

from hotcell.command_folder import CommandFolder, cell_folder
from hotcell.failures import HotcellError

if TYPE_CHECKING:
    from typing_extensions import Self

# As agent-framework's own shells cut each stream.
_most_bytes = 64 * 1024


class HotcellShellTool:
    """What agent-framework calls a ShellExecutor. `options` are those of CommandFolder: work_dir, policy, image, inputs, timeout,
    url, api_key. It asks no person before a command: the cell is the boundary."""

    def __init__(self, **options: Any) -> None:
        self.commands = CommandFolder(**options)

    async def start(self) -> None:
        """Nothing lives between two commands."""

    async def close(self) -> None:
        self.commands.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def run(self, command: str, *, timeout: Optional[float] = None) -> ShellResult:
        began = time.monotonic()
        try:
            ran = await self.commands.run_in_loop(command, timeout=timeout)
        except HotcellError as error:
            # What is wrong with the command comes as a result: this is the platform's failure, or the policy's refusal.
            raise ShellExecutionError(str(error)) from error
        stdout, stderr = _cut(ran.stdout), _cut(ran.stderr + ran.said)
        return ShellResult(
            stdout=stdout,
            stderr=stderr,
            exit_code=ran.exit_code,
            duration_ms=round((time.monotonic() - began) * 1000),
            truncated=ran.truncated or stdout != ran.stdout or stderr != ran.stderr + ran.said,
            timed_out=ran.timed_out,
        )

    def as_function(self, *, name: str = "run_shell", description: Optional[str] = None) -> FunctionTool:
        async def run_shell(command: str) -> str:
            return str((await self.run(command)).format_for_model())

        told = (
            f"Runs a command in bash, in a sealed cell without a network. The folder {cell_folder} is kept between commands, "
            "and nothing else: no variable, no current folder, no process."
        )
        return FunctionTool(
            name=name, description=description or told, func=run_shell, kind="shell", approval_mode="never_require"
        )


def _cut(text: str) -> str:
    """Its beginning and its end, because errors stand at the end."""
    data = text.encode()
    if len(data) <= _most_bytes:
        return text
    half = _most_bytes // 2
    head, tail = data[:half].decode(errors="replace"), data[-half:].decode(errors="replace")
    return f"{head}\n[… {len(data) - 2 * half} bytes are left out …]\n{tail}"
