"""HotcellCommandLineCodeExecutor, in place of AutoGen's DockerCommandLineCodeExecutor: every call runs in a fresh sealed
cell, and what it changes in work_dir comes back."""

from __future__ import annotations

import asyncio
import logging
import tempfile
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from string import Template
from typing import TYPE_CHECKING, Any, ClassVar, List, Optional, Union

from autogen_core import CancellationToken, Component
from autogen_core.code_executor import CodeBlock, CodeExecutor

from hotcell.autogen_blocks import plan
from hotcell.autogen_config import HotcellCodeResult, HotcellCommandLineCodeExecutorConfig
from hotcell.autogen_endings import cancelled_text, ended, output_of
from hotcell.autogen_functions import Function, list_packages, missing_of, module_of, packages_of, stub_of
from hotcell.autogen_jupyter import HotcellJupyterCodeExecutor
from hotcell.autogen_options import judge_work_dir, refuse_options, their_image, warn_of_options
from hotcell.cell_scripts import CodeFile
from hotcell.client import Hotcell
from hotcell.own_thread import in_thread
from hotcell.work_call import Finished, WorkCall, WorkRoom, remove_code, write_code

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["HotcellCommandLineCodeExecutor", "HotcellJupyterCodeExecutor"]

_log = logging.getLogger(__name__)


class HotcellCommandLineCodeExecutor(CodeExecutor, Component[HotcellCommandLineCodeExecutorConfig]):
    """Takes every option of DockerCommandLineCodeExecutor, or refuses it by name and says what to do instead.

    Beyond them: `policy` and `inputs` of every call's run, and where the API is (`url`, `api_key`; by default
    HOTCELL_URL and HOTCELL_API_KEY, or a local installation's files). A call starts the executor if needed. Calls
    may overlap and may come from any event loop.
    """

    component_config_schema = HotcellCommandLineCodeExecutorConfig
    component_provider_override = "hotcell.autogen.HotcellCommandLineCodeExecutor"

    SUPPORTED_LANGUAGES: ClassVar[List[str]] = ["bash", "shell", "sh", "pwsh", "powershell", "ps1", "python"]
    FUNCTION_PROMPT_TEMPLATE: ClassVar[str] = (
        "You have access to the following user defined functions. They can be accessed from the module called "
        "`$module_name` by their function names.\n\nFor example, if there was a function called `foo` you could import it "
        "by writing `from $module_name import foo`\n\n$functions"
    )

    def __init__(
        self,
        image: Optional[str] = None,
        container_name: Optional[str] = None,
        *,
        timeout: int = 60,
        work_dir: Union[Path, str, None] = None,
        bind_dir: Union[Path, str, None] = None,
        auto_remove: bool = True,
        stop_container: bool = True,
        device_requests: Optional[Sequence[Any]] = None,
        functions: Sequence[Function] = (),
        functions_module: str = "functions",
        extra_volumes: Optional[Mapping[str, Mapping[str, str]]] = None,
        extra_hosts: Optional[Mapping[str, str]] = None,
        init_command: Optional[str] = None,
        delete_tmp_files: bool = False,
        policy: Optional[str] = None,
        inputs: Optional[Mapping[str, Any]] = None,
        url: Optional[str] = None,
        api_key: Optional[str] = None,
    ) -> None:
        if timeout < 1:
            raise ValueError("Timeout must be greater than or equal to 1.")
        if not functions_module.isidentifier():
            raise ValueError("Module name must be a valid Python identifier")
        refuse_options(
            extra_volumes=extra_volumes,
            extra_hosts=extra_hosts,
            init_command=init_command,
            device_requests=device_requests,
        )
        warn_of_options(auto_remove, stacklevel=3)
        self._work_dir = None if work_dir is None else Path(work_dir)
        self._bind_dir = None if bind_dir is None else Path(bind_dir)
        judge_work_dir(self._work_dir, self._bind_dir, stacklevel=3)
        if self._work_dir is not None:
            self._work_dir.mkdir(parents=True, exist_ok=True)
        self.container_name = container_name
        self._auto_remove = auto_remove
        self._stop_container = stop_container
        self._image = None if image == their_image else image
        self._timeout = timeout
        self._functions = list(functions)
        self._functions_module = functions_module
        self._functions_loaded = not self._functions
        self._delete_tmp_files = delete_tmp_files
        self._policy = policy
        self._inputs = dict(inputs or {})
        self._url, self._api_key = url, api_key
        self._temporary: Optional[tempfile.TemporaryDirectory[str]] = None
        self._client: Optional[Hotcell] = None
        self._room: Optional[WorkRoom] = None
        self._calls: set[WorkCall] = set()
        self._state = threading.Lock()

    @property
    def timeout(self) -> int:
        """For each block, in seconds."""
        return self._timeout

    @property
    def work_dir(self) -> Path:
        if self._work_dir is not None:
            return self._work_dir
        if self._temporary is None:
            raise RuntimeError("Working directory not properly initialized")
        return Path(self._temporary.name)

    @property
    def bind_dir(self) -> Path:
        return self._bind_dir if self._bind_dir is not None else self.work_dir

    @property
    def functions_module(self) -> str:
        return self._functions_module

    def format_functions_for_prompt(self, prompt_template: str = FUNCTION_PROMPT_TEMPLATE) -> str:
        """`$module_name` and `$functions` of the template are filled in."""
        stubs = "\n\n".join(stub_of(function) for function in self._functions)
        return Template(prompt_template).substitute(module_name=self._functions_module, functions=stubs)

    async def start(self) -> None:
        """Makes a temporary work_dir if none was given. Again does no harm."""
        self._open()

    async def stop(self) -> None:
        """Ends the calls that still run, and removes a temporary work_dir."""
        for call in list(self._calls):
            call.cancel()
            await asyncio.to_thread(call.ended.wait)
        with self._state:
            client, self._client, self._room = self._client, None, None
            temporary, self._temporary = self._temporary, None
        if client is not None:
            client.close()
        if temporary is not None:
            temporary.cleanup()

    async def restart(self) -> None:
        """Nothing of a call outlives it but work_dir, and that is kept."""

    async def execute_code_blocks(
        self, code_blocks: List[CodeBlock], cancellation_token: CancellationToken
    ) -> HotcellCodeResult:
        room = self._open()
        if not code_blocks:
            raise ValueError("No code blocks to execute.")
        if not self._functions_loaded:
            await self._load_functions(room, cancellation_token)
        return await self._execute(room, code_blocks, cancellation_token)

    def _open(self) -> WorkRoom:
        with self._state:
            if self._room is None:
                self._client = Hotcell(self._url, self._api_key)
                self._room = WorkRoom(self._client.calls)
            if self._work_dir is None and self._temporary is None:
                self._temporary = tempfile.TemporaryDirectory()
            return self._room

    async def _execute(
        self, room: WorkRoom, blocks: Sequence[CodeBlock], token: CancellationToken
    ) -> HotcellCodeResult:
        work_dir = self.work_dir
        planned = plan(blocks, work_dir)
        if not planned.code:
            return HotcellCodeResult(exit_code=1, output=planned.stop, code_file=None)
        written: list[CodeFile] = []
        try:
            await asyncio.to_thread(write_code, work_dir, planned.code[0])
            written.append(planned.code[0])
            finished = await self._run(room, planned.code, token)
            if finished is None:
                code, output, kept = 1, cancelled_text, None
            else:
                kept = finished
                code, said = ended(finished.result)
                output = output_of(finished.result) + said
                written = planned.code
            if code == 0 and planned.stop:
                code, output = 1, output + planned.stop
            return HotcellCodeResult(
                exit_code=code,
                output=output,
                code_file=str(work_dir / planned.code[0].path),
                run=kept.result.run if kept else None,
                not_kept=tuple(kept.brought.not_kept) if kept else (),
            )
        finally:
            if self._delete_tmp_files:
                await asyncio.to_thread(remove_code, work_dir, written)

    async def _run(
        self, room: WorkRoom, code: Sequence[CodeFile], token: CancellationToken
    ) -> Optional[Finished]:
        options = {"policy": self._policy, "image": self._image, "inputs": self._inputs}
        call = WorkCall(room, options, self._timeout)
        self._calls.add(call)
        try:
            # The token calls back under its lock, in the thread that cancels: `cancel` only starts a thread.
            token.add_callback(call.cancel)
            running = asyncio.ensure_future(in_thread(lambda: call.run(self.work_dir, code)))
            try:
                return await asyncio.shield(running)
            except asyncio.CancelledError:
                # Our own task was cancelled: nothing of the call may be alive afterwards.
                call.cancel()
                await asyncio.wait([running])
                running.exception()
                raise
        finally:
            self._calls.discard(call)

    async def _load_functions(self, room: WorkRoom, token: CancellationToken) -> None:
        module = CodeFile(f"{self._functions_module}.py", ["python3"], module_of(self._functions))
        asked = packages_of(self._functions)
        if asked:
            listing = CodeFile(".hotcell-packages.py", ["python3"], list_packages)
            listed = await self._run(room, [listing], token)
            await asyncio.to_thread(remove_code, self.work_dir, [listing])
            missing = missing_of(asked, output_of(listed.result)) if listed else asked
            if missing:
                raise ValueError(
                    f"Packages unavailable in environment: {', '.join(missing)}. A cell has no network to install them "
                    "from: use an image that has them (./hotcell image build), and a policy that allows it."
                )
        loaded = await self._run(room, [module], token)
        if loaded is None or not loaded.result.ok:
            said = output_of(loaded.result) + ended(loaded.result)[1] if loaded else cancelled_text
            raise ValueError(f"Functions failed to load: {said}")
        self._functions_loaded = True

    def _to_config(self) -> HotcellCommandLineCodeExecutorConfig:
        if self._functions:
            _log.info("Functions will not be included in serialized configuration")
        return HotcellCommandLineCodeExecutorConfig(
            image=self._image,
            container_name=self.container_name,
            timeout=self._timeout,
            work_dir=str(self._work_dir) if self._work_dir else None,
            bind_dir=str(self._bind_dir) if self._bind_dir else None,
            auto_remove=self._auto_remove,
            stop_container=self._stop_container,
            functions_module=self._functions_module,
            delete_tmp_files=self._delete_tmp_files,
            policy=self._policy,
            inputs={name: source for name, source in self._inputs.items() if isinstance(source, str)},
            url=self._url,
        )

    @classmethod
    def _from_config(cls, config: HotcellCommandLineCodeExecutorConfig) -> Self:
        return cls(**config.model_dump())
