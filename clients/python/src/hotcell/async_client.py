"""The client of a program with an event loop."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing
from typing import TYPE_CHECKING, Any, Optional

from hotcell import steps
from hotcell.asking import RunOptions
from hotcell.calls import Calls, default_patience
from hotcell.finished import AsyncResult
from hotcell.following import finish, log_rows
from hotcell.freezing import freeze
from hotcell.local_settings import find_settings
from hotcell.progress import progress_of
from hotcell.run_outputs import AsyncOutputs

if TYPE_CHECKING:
    from typing_extensions import Self, Unpack

    from hotcell.async_batches import AsyncBatches
    from hotcell.async_workflows import AsyncWorkflows
    from hotcell.async_webhooks import AsyncWebhooks
    from hotcell.async_schedules import AsyncSchedules
    from hotcell.async_session import AsyncSession, StartingSession
    from hotcell.policy_answers import PolicyPage, PolicyView
    from hotcell.run_answers import LogRow, RunPage
    from hotcell.session_calls import SessionOptions
    from hotcell.snapshot_answers import CreatedSnapshot


class AsyncHotcell:
    """
    >>> async with AsyncHotcell() as hotcell:
    ...     results = await asyncio.gather(*(hotcell.run(f"print({n})") for n in range(100)))

    One of them belongs to one event loop. The address and the key come from HOTCELL_URL and HOTCELL_API_KEY, or from a local installation's files. `patience`
    is how many seconds the API may be away before a call gives up.
    """

    def __init__(
        self,
        url: Optional[str] = None,
        api_key: Optional[str] = None,
        *,
        tenant: Optional[str] = None,
        patience: float = default_patience,
    ) -> None:
        from hotcell.http_wires import AsyncWire

        self.calls = Calls(AsyncWire(find_settings(url, api_key, tenant)), patience)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        await self.calls.wire.close()

    async def run(
        self,
        code: str,
        *,
        language: str = "python",
        timeout: Optional[float] = None,
        progress: Optional[bool] = None,
        **options: Unpack[RunOptions],
    ) -> AsyncResult:
        """Runs code and waits for its result. A program that fails is a result; Refused, RunLost and others are raised.

        `timeout` ends the waiting, not the run. `progress` shows on a terminal how far it is, unless it is False.
        """
        run = await self.submit(code, language=language, **options)
        return await run.result(timeout=timeout, progress=progress)

    async def submit(
        self,
        code: Optional[str] = None,
        *,
        language: str = "python",
        blocks: Optional[Sequence[Mapping[str, Any]]] = None,
        **options: Unpack[RunOptions],
    ) -> AsyncRun:
        """Returns as soon as the run is accepted: from then on it ends in exactly one result."""
        accepted = await steps.submit(self.calls, steps.blocks_of(code, language, blocks), options)
        return AsyncRun(self.calls, accepted.run, accepted.warnings or [])

    def run_by_id(self, run: str) -> AsyncRun:
        """A handle of a run that was submitted earlier, also by another client."""
        return AsyncRun(self.calls, run, [])

    def session(self, **options: Unpack[SessionOptions]) -> StartingSession:
        """Starts a session, as soon as it is awaited or entered with `async with`, which finishes it."""
        from hotcell.async_session import StartingSession

        return StartingSession(self.calls, options)

    def session_by_id(self, run: str) -> AsyncSession:
        """A handle of a session that was started earlier, also by another client."""
        from hotcell.async_session import AsyncSession

        return AsyncSession(self.calls, run, [])

    @property
    def schedules(self) -> AsyncSchedules:
        """Runs that repeat."""
        from hotcell.async_schedules import AsyncSchedules

        return AsyncSchedules(self.calls)

    @property
    def batches(self) -> AsyncBatches:
        """One request over many items."""
        from hotcell.async_batches import AsyncBatches

        return AsyncBatches(self.calls)

    @property
    def workflows(self) -> AsyncWorkflows:
        """Runs that follow each other."""
        from hotcell.async_workflows import AsyncWorkflows

        return AsyncWorkflows(self.calls)

    @property
    def webhooks(self) -> AsyncWebhooks:
        """Events that are sent to an address."""
        from hotcell.async_webhooks import AsyncWebhooks

        return AsyncWebhooks(self.calls)

    async def runs(self, **query: Any) -> RunPage:
        """A page of runs, newest first: status, label (a list of "NAME=VALUE"), since, limit, cursor."""
        return await steps.runs(self.calls, query)

    async def snapshot(self, source: Any, name: Optional[str] = None) -> CreatedSnapshot:
        """Freezes a local folder or file, a DataFrame (as data.parquet), "s3://bucket/prefix" or "RUN:outputs"."""
        return await freeze(self.calls, source, name)

    async def policies(self) -> PolicyPage:
        return await steps.policies(self.calls)

    async def policy(self, name: str) -> PolicyView:
        return await steps.policy(self.calls, name)


class AsyncRun:
    """A handle of an accepted run."""

    def __init__(self, calls: Calls, run: str, warnings: Sequence[str]) -> None:
        self._calls = calls
        self.id = run
        # What in the code will probably not work in a cell.
        self.warnings = list(warnings)

    @property
    def as_input(self) -> str:
        """Names its outputs, as an input of other runs."""
        return f"{self.id}:outputs"

    async def result(self, timeout: Optional[float] = None, *, progress: Optional[bool] = None) -> AsyncResult:
        """Waits for the result. WaitTimeout ends only the waiting: the run goes on."""
        with progress_of(self.id, progress) as shown:
            record, log = await finish(self._calls, self.id, timeout=timeout, on_status=shown)
        result = AsyncResult(record, log, AsyncOutputs(self._calls, self.id, record.outputs))
        result.raise_if_lost()
        return result

    async def is_finished(self) -> bool:
        return await steps.is_finished(self._calls, self.id)

    async def outputs(self) -> AsyncOutputs:
        """What it left in /outputs, once it is finished."""
        return (await self.result()).outputs

    async def evidence(self) -> bytes:
        """The signed statement about how it ended: a Sigstore bundle in JSON, as `record.evidence` names it by digest."""
        return await steps.evidence(self._calls, self.id)

    async def logs(self, *, after: int = -1, follow: bool = True) -> AsyncGenerator[LogRow, None]:
        """Yields what it writes, until it is finished. A connection that breaks is resumed without a gap."""
        async with aclosing(log_rows(self._calls, self.id, after=after, follow=follow)) as rows:
            async for row in rows:
                yield row

    async def cancel(self, reason: Optional[str] = None) -> None:
        """Ends the run, at whatever stage it is. Its result follows when nothing of it is alive."""
        await steps.cancel(self._calls, self.id, reason)

    async def rerun(
        self,
        *,
        latest_inputs: bool = False,
        inputs: Optional[Mapping[str, Any]] = None,
        params: Optional[Mapping[str, Any]] = None,
    ) -> AsyncRun:
        """Submits the same request again, on the same inputs or on what their names point to now."""
        accepted = await steps.rerun(self._calls, self.id, latest_inputs, inputs, params)
        return AsyncRun(self._calls, accepted.run, accepted.warnings or [])

    def __repr__(self) -> str:
        return f"<run {self.id}>"
