"""The executor of a smolagents CodeAgent: `CodeAgent(tools, model, executor=HotcellPythonExecutor())`. All steps of an agent,
its tools among them, run in one sealed session."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Optional

from smolagents import AgentLogger, LogLevel, Tool
from smolagents.local_python_executor import CodeOutput
from smolagents.remote_executors import RemotePythonExecutor
from smolagents.utils import AgentError

from hotcell.client import Hotcell
from hotcell.session_client import Session
from hotcell.session_step import Step

# What smolagents calls a package by the name of its module.
_packages = {"PIL": "pillow"}
_answer = "_hotcell_answer"
# An error's message is cut at 2,000 characters, and an answer may be longer: it is kept in a name.
_keep_answer = f"""
def _hotcell_keep(given):
    def final_answer(*words, **named):
        global {_answer}
        try:
            return given(*words, **named)
        except BaseException as error:
            if type(error).__name__ != {RemotePythonExecutor.FINAL_ANSWER_EXCEPTION!r}:
                raise
            {_answer} = error.value
            error.args = ()
            raise
    return final_answer
final_answer = _hotcell_keep(final_answer)
"""


class HotcellPythonExecutor(RemotePythonExecutor):  # type: ignore[misc]
    """`additional_imports` are packages that have to be in the image. `timeout` is the seconds of each step. The other options are
    those of Hotcell.session. Objects travel as JSON: no pickle of a cell is read here."""

    def __init__(
        self,
        additional_imports: Sequence[str] = (),
        logger: Optional[AgentLogger] = None,
        *,
        timeout: Optional[int] = None,
        policy: Optional[str] = None,
        image: Optional[str] = None,
        inputs: Optional[Mapping[str, Any]] = None,
        url: Optional[str] = None,
        api_key: Optional[str] = None,
        **options: Any,
    ) -> None:
        super().__init__(list(additional_imports), logger or AgentLogger(LogLevel.ERROR))
        self._timeout = timeout
        given = {"policy": policy, "image": image, "inputs": inputs, **options}
        self._options: Any = {name: value for name, value in given.items() if value}
        self._client = Hotcell(url, api_key)
        self._session: Optional[Session] = None

    def run_code_raise_errors(self, code: str) -> CodeOutput:
        step = self._step(code)
        logs = step.log
        if step.error is not None and step.error.name == self.FINAL_ANSWER_EXCEPTION:
            return CodeOutput(output=self._kept_answer(step), logs=step.stdout, is_final_answer=True)
        if not step.ok:
            # A traceback names the error; a limit does not.
            raise AgentError(logs if step.error else f"{logs}\n{step.reason}".strip(), self.logger)
        return CodeOutput(output=step.value, logs=logs, is_final_answer=False)

    def send_tools(self, tools: dict[str, Tool]) -> None:
        agents = [name for name, tool in tools.items() if not isinstance(tool, Tool)]
        if agents:
            raise ValueError(f"{', '.join(agents)}: an agent can't be called from a sealed cell. Give it an executor of its own.")
        super().send_tools(tools)
        if "final_answer" in tools:
            self.run_code_raise_errors(_keep_answer)

    def install_packages(self, additional_imports: list[str]) -> list[str]:
        """A cell has no network: what its image lacks is named."""
        names = [_packages.get(name, name) for name in additional_imports]
        found = self._step(f"import importlib.metadata, importlib.util, json\n{_missing_of}\nprint(json.dumps(_missing_of({names!r})))")
        missing = json.loads(found.check().stdout)
        if missing:
            raise ValueError(
                f"Packages unavailable in environment: {', '.join(missing)}. A cell has no network: build an image with them."
            )
        return names

    def cleanup(self) -> None:
        """Finishes the session. What is in /outputs is kept."""
        session, self._session = self._session, None
        if session is not None:
            session.finish()

    def _step(self, code: str) -> Step:
        if self._session is None:
            self._session = self._client.session(**self._options)
            self.logger.log(f"Session {self._session.id} of Hotcell", level=LogLevel.INFO)
            if self.additional_imports:
                self.installed_packages = self.install_packages(self.additional_imports)
        return self._session.run(code, timeout_seconds=self._timeout)

    def _kept_answer(self, step: Step) -> Any:
        # As its repr, which is shown as it is.
        kept = self._step(f"type('Kept', (), {{'__repr__': lambda _: globals().pop({_answer!r})}})()")
        if not kept.outputs:
            # The code raised an error of this name by itself.
            raise AgentError(step.reason, self.logger)
        return self._deserialize_final_answer(kept.bytes(0).decode())


_missing_of = '''def _missing_of(names):
    def is_there(name):
        try:
            return importlib.metadata.version(name) and True
        except importlib.metadata.PackageNotFoundError:
            return importlib.util.find_spec(name.split(".")[0]) is not None
    return [name for name in names if not is_there(name)]'''
