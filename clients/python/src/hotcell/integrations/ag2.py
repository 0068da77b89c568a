"""The code environment of an AG2 agent: `SandboxCodeTool(HotcellCodeEnvironment())`. Every call has a fresh sealed cell."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Optional

from ag2.tools.code import CodeEnvironment
from ag2.tools.code.environment import CodeLanguage, CodeRunResult

from hotcell.one_run import OneRun


class HotcellCodeEnvironment(CodeEnvironment):  # type: ignore[misc]
    """`languages` are those of the policy that the model is told of. `timeout` counts from the start of the code."""

    def __init__(
        self,
        *,
        languages: tuple[CodeLanguage, ...] = ("python", "bash"),
        policy: Optional[str] = None,
        image: Optional[str] = None,
        inputs: Optional[Mapping[str, Any]] = None,
        timeout: float = 60,
        url: Optional[str] = None,
        api_key: Optional[str] = None,
    ) -> None:
        self._languages = languages
        self._runs = OneRun(policy=policy, image=image, inputs=inputs, timeout=timeout, url=url, api_key=api_key)

    @property
    def supported_languages(self) -> tuple[CodeLanguage, ...]:
        return self._languages

    def __deepcopy__(self, memo: dict[int, Any]) -> HotcellCodeEnvironment:
        """AG2 copies an agent's tools; the connection stays one."""
        return self

    def close(self) -> None:
        self._runs.close()

    async def run(self, code: str, language: CodeLanguage, *, context: Any = None) -> CodeRunResult:
        told = await self._runs.told(code, language)
        return CodeRunResult(output=told.output.strip(), exit_code=told.exit_code)
