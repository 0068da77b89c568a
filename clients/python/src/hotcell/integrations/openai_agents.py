"""The executor of an OpenAI Agents SDK ShellTool: `ShellTool(executor=HotcellShell())`. Every command runs in a sealed cell
of its own, in one folder that they share."""

from __future__ import annotations

from typing import Any

from agents import ShellCallOutcome, ShellCommandOutput, ShellCommandRequest, ShellResult

from hotcell.command_folder import CommandFolder, Ran


class HotcellShell:
    """`options` are those of CommandFolder: work_dir, policy, image, inputs, timeout, url, api_key."""

    def __init__(self, **options: Any) -> None:
        self.commands = CommandFolder(**options)

    def close(self) -> None:
        self.commands.close()

    async def __call__(self, request: ShellCommandRequest) -> ShellResult:
        action = request.data.action
        timeout = None if action.timeout_ms is None else action.timeout_ms / 1000
        outputs = [
            _told(one, await self.commands.run_in_loop(one, timeout=timeout)) for one in action.commands
        ]
        return ShellResult(output=outputs, max_output_length=action.max_output_length)


def _told(command: str, ran: Ran) -> ShellCommandOutput:
    outcome = ShellCallOutcome(type="timeout") if ran.timed_out else ShellCallOutcome(type="exit", exit_code=ran.exit_code)
    return ShellCommandOutput(
        command=command, stdout=ran.stdout, stderr=ran.stderr + ran.said, outcome=outcome, provider_data={"run": ran.run}
    )
