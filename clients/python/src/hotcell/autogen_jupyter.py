"""HotcellJupyterCodeExecutor, in place of AutoGen's DockerJupyterCodeExecutor and JupyterCodeExecutor: the blocks of all
calls are steps of one sealed session, which keeps their names."""

from __future__ import annotations

import asyncio
import tempfile
import threading
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, List, Optional, Union

from autogen_core import CancellationToken, Component
from autogen_core.code_executor import CodeBlock, CodeExecutor

from hotcell.autogen_jupyter_config import HotcellJupyterCodeExecutorConfig, HotcellJupyterCodeResult
from hotcell.autogen_kernel import KernelCall, KernelEnded
from hotcell.client import Hotcell
from hotcell.failures import StepLost
from hotcell.own_thread import in_thread
from hotcell.session_client import Session

if TYPE_CHECKING:
    from typing_extensions import Self

_kernel = "python3"


class HotcellJupyterCodeExecutor(CodeExecutor, Component[HotcellJupyterCodeExecutorConfig]):
    """Takes the options of AutoGen's two Jupyter executors, but no Jupyter server: a session takes its place.

    Beyond them: `policy`, `image` and `inputs` of the session, and where the API is (`url`, `api_key`; by default
    HOTCELL_URL and HOTCELL_API_KEY, or a local installation's files). A call starts the session if needed. Calls may come
    from any event loop, and take turns.
    """

    component_config_schema = HotcellJupyterCodeExecutorConfig
    component_provider_override = "hotcell.autogen.HotcellJupyterCodeExecutor"

    def __init__(
        self,
        jupyter_server: None = None,
        kernel_name: str = _kernel,
        timeout: int = 60,
        output_dir: Union[Path, str, None] = None,
        *,
        policy: Optional[str] = None,
        image: Optional[str] = None,
        inputs: Optional[Mapping[str, Any]] = None,
        url: Optional[str] = None,
        api_key: Optional[str] = None,
    ) -> None:
        if timeout < 1:
            raise ValueError("Timeout must be greater than or equal to 1.")
        if jupyter_server is not None:
            raise ValueError(
                "jupyter_server is not available: a sealed session of Hotcell takes its place, without a server or a folder "
                "of the host. Leave it out, and pass output_dir for pictures, policy, image and inputs by their names."
            )
        self._kernel_name = kernel_name
        self._timeout = timeout
        self._output_dir = None if output_dir is None else Path(output_dir)
        if self._output_dir is not None:
            self._output_dir.mkdir(parents=True, exist_ok=True)
        self._options: dict[str, Any] = {"policy": policy, "image": image, "inputs": dict(inputs or {})}
        self._url, self._api_key = url, api_key
        self._client: Optional[Hotcell] = None
        self._session: Optional[Session] = None
        self._calls: set[KernelCall] = set()
        self._state = threading.Lock()
        self._turn = threading.Lock()

    @property
    def output_dir(self) -> Path:
        """Where pictures and HTML are saved. A temporary one is made at the first use, and kept."""
        if self._output_dir is None:
            self._output_dir = Path(tempfile.mkdtemp())
        if self._output_dir == Path("."):
            warnings.warn(
                "Using the current directory as output_dir is deprecated", DeprecationWarning, stacklevel=2
            )
        return self._output_dir

    async def start(self) -> None:
        """Starts the session. Again does no harm."""
        await in_thread(self._open)

    async def stop(self) -> None:
        """Interrupts the calls that still run, and finishes the session."""
        for call in list(self._calls):
            call.cancel()
        await in_thread(self._close)

    async def restart(self) -> None:
        """A new session: the names and files of the old one are gone."""
        await self.stop()
        await self.start()

    async def execute_code_blocks(
        self, code_blocks: List[CodeBlock], cancellation_token: CancellationToken
    ) -> HotcellJupyterCodeResult:
        """Raises asyncio.CancelledError if the token is cancelled, when the step has ended."""
        call = KernelCall(self._timeout)
        self._calls.add(call)
        try:
            # The token calls back under its lock, in the thread that cancels: `cancel` only starts a thread.
            cancellation_token.add_callback(call.cancel)
            running = asyncio.ensure_future(in_thread(lambda: self._run(call, code_blocks)))
            try:
                result = await asyncio.shield(running)
            except asyncio.CancelledError:
                call.cancel()
                await asyncio.wait([running])
                running.exception()
                raise
        finally:
            self._calls.discard(call)
        if call.cancelled.is_set():
            raise asyncio.CancelledError
        return result

    def _run(self, call: KernelCall, blocks: List[CodeBlock]) -> HotcellJupyterCodeResult:
        with self._turn:
            if call.cancelled.is_set():
                return HotcellJupyterCodeResult(exit_code=1, output="", output_files=[])
            session = self._open()
            try:
                shown = call.run(session, blocks, self._folder())
            except KernelEnded as ended:
                self._forget(session)
                output = f"The session ended, and its names are gone: {ended} The next call starts a new one."
                return HotcellJupyterCodeResult(exit_code=1, output=output, output_files=[], run=session.id)
            except StepLost:
                self._forget(session)
                raise
            return HotcellJupyterCodeResult(
                exit_code=shown.exit_code, output="\n".join(shown.texts), output_files=shown.files, run=session.id
            )

    def _folder(self) -> Path:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)
            return self.output_dir

    def _open(self) -> Session:
        if self._kernel_name != _kernel:
            raise ValueError(f"Kernel {self._kernel_name} is not installed. A session has {_kernel}.")
        with self._state:
            if self._session is None:
                if self._client is None:
                    self._client = Hotcell(self._url, self._api_key)
                given: Any = {name: value for name, value in self._options.items() if value}
                self._session = self._client.session(**given)
            return self._session

    def _forget(self, session: Session) -> None:
        with self._state:
            if self._session is session:
                self._session = None

    def _close(self) -> None:
        # Behind the calls that were interrupted.
        with self._turn, self._state:
            session, self._session = self._session, None
            client, self._client = self._client, None
            try:
                if session is not None:
                    session.finish()
            finally:
                if client is not None:
                    client.close()

    def _to_config(self) -> HotcellJupyterCodeExecutorConfig:
        inputs = self._options["inputs"]
        return HotcellJupyterCodeExecutorConfig(
            kernel_name=self._kernel_name,
            timeout=self._timeout,
            output_dir=str(self._output_dir) if self._output_dir else None,
            policy=self._options["policy"],
            image=self._options["image"],
            inputs={name: source for name, source in inputs.items() if isinstance(source, str)},
            url=self._url,
        )

    @classmethod
    def _from_config(cls, config: HotcellJupyterCodeExecutorConfig) -> Self:
        return cls(**config.model_dump())
