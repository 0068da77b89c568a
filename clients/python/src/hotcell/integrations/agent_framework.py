"""A tool of Microsoft's agent-framework whose code runs in sealed cells: `Agent(client, tools=[code_tool()])`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Optional

from agent_framework import FunctionTool

from hotcell.one_run import OneRun


def code_tool(
    *,
    name: str = "run_code",
    policy: Optional[str] = None,
    image: Optional[str] = None,
    inputs: Optional[Mapping[str, Any]] = None,
    timeout: float = 60,
    url: Optional[str] = None,
    api_key: Optional[str] = None,
) -> FunctionTool:
    """Every call runs in a fresh sealed cell: nothing of an earlier call is there."""
    runs = OneRun(policy=policy, image=image, inputs=inputs, timeout=timeout, url=url, api_key=api_key)

    async def run_code(
        code: Annotated[str, "The whole program: nothing of an earlier call is there."],
        language: Annotated[str, "python or bash"] = "python",
    ) -> str:
        told = await runs.told(code, language)
        return told.output if told.exit_code == 0 else f"{told.output}\n[exit code: {told.exit_code}]".lstrip("\n")

    return FunctionTool(
        name=name,
        description="Runs code in a sealed cell without a network and answers what it printed.",
        func=run_code,
    )
