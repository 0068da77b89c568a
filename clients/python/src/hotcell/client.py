"""The client of a program without an event loop."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Optional

from hotcell import steps
from hotcell.asking import RunOptions
from hotcell.calls import Calls, default_patience
from hotcell.finished import Result
from hotcell.following import finish, log_rows
from hotcell.freezing import freeze
from hotcell.local_settings import find_settings
from hotcell.progress import progress_of
from hotcell.run_outputs import Outputs
from hotcell.wire import drive

if TYPE_CHECKING:
    from typing_extensions import Self, Unpack

    from hotcell.batches_client import Batches
    from hotcell.workflows_client import Workflows
    from hotcell.webhooks_client import Webhooks
    from hotcell.policy_answers import PolicyPage, PolicyView
    from hotcell.run_answers import LogRow, RunPage
    from hotcell.schedules_client import Schedules
    from hotcell.session_calls import SessionOptions
    from hotcell.session_client import Session
    from hotcell.snapshot_answers import CreatedSnapshot


class Hotcell:
    """
    >>> with Hotcell() as hotcell:
    ...     result = hotcell.run("print(1)")
    ...     print(result.outcome, result.stdout)

    The address and the key come from HOTCELL_URL and HOTCELL_API_KEY, or from a local installation's files. `patience`
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
        from hotcell.http_wires import SyncWire

        self.calls = Calls(SyncWire(find_settings(url, api_key, tenant)), patience)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        drive(self.calls.wire.close())

    def run(
        self,
        code: str,
        *,
        language: str = "python",
        timeout: Optional[float] = None,
        progress: Optional[bool] = None,
        **options: Unpack[RunOptions],
    ) -> Result:
        """Runs code and waits for its result. A program that fails is a result; Refused, RunLost and others are raised.

        `timeout` ends the waiting, not the run. `progress` shows on a terminal how far it is, unless it is False.
        """
        run = self.submit(code, language=language, **options)
        return run.result(timeout=timeout, progress=progress)

    def submit(
        self,
        code: Optional[str] = None,
        *,
        language: str = "python",
        blocks: Optional[Sequence[Mapping[str, Any]]] = None,
        **options: Unpack[RunOptions],
    ) -> Run:
        """Returns as soon as the run is accepted: from then on it ends in exactly one result."""
        accepted = drive(steps.submit(self.calls, steps.blocks_of(code, language, blocks), options))
        return Run(self.calls, accepted.run, accepted.warnings or [])

    def run_by_id(self, run: str) -> Run:
        """A handle of a run that was submitted earlier, also by another client."""
        return Run(self.calls, run, [])

    def session(self, **options: Unpack[SessionOptions]) -> Session:
        """Starts a session: a run whose cell stays open for steps. `with` finishes it."""
        from hotcell.session_calls import start
        from hotcell.session_client import Session

        accepted = drive(start(self.calls, options))
        return Session(self.calls, accepted.run, accepted.warnings or [])

    def session_by_id(self, run: str) -> Session:
        """A handle of a session that was started earlier, also by another client."""
        from hotcell.session_client import Session

        return Session(self.calls, run, [])

    @property
    def schedules(self) -> Schedules:
        """Runs that repeat."""
        from hotcell.schedules_client import Schedules

        return Schedules(self.calls)

    @property
    def batches(self) -> Batches:
        """One request over many items."""
        from hotcell.batches_client import Batches

        return Batches(self.calls)

    @property
    def workflows(self) -> Workflows:
        """Runs that follow each other."""
        from hotcell.workflows_client import Workflows

        return Workflows(self.calls)

    @property
    def webhooks(self) -> Webhooks:
        """Events that are sent to an address."""
        from hotcell.webhooks_client import Webhooks

        return Webhooks(self.calls)

    def runs(self, **query: Any) -> RunPage:
        """A page of runs, newest first: status, label (a list of "NAME=VALUE"), since, limit, cursor."""
        return drive(steps.runs(self.calls, query))

    def snapshot(self, source: Any, name: Optional[str] = None) -> CreatedSnapshot:
        """Freezes a local folder or file, a DataFrame (as data.parquet), "s3://bucket/prefix" or "RUN:outputs"."""
        return drive(freeze(self.calls, source, name))

    def policies(self) -> PolicyPage:
        return drive(steps.policies(self.calls))

    def policy(self, name: str) -> PolicyView:
        return drive(steps.policy(self.calls, name))


async def _next(rows: AsyncGenerator[LogRow, None]) -> Optional[LogRow]:
    return await anext(rows, None)


class Run:
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

    def result(self, timeout: Optional[float] = None, *, progress: Optional[bool] = None) -> Result:
        """Waits for the result. WaitTimeout ends only the waiting: the run goes on."""
        with progress_of(self.id, progress) as shown:
            record, log = drive(finish(self._calls, self.id, timeout=timeout, on_status=shown))
        result = Result(record, log, Outputs(self._calls, self.id, record.outputs))
        result.raise_if_lost()
        return result

    def is_finished(self) -> bool:
        return drive(steps.is_finished(self._calls, self.id))

    @property
    def outputs(self) -> Outputs:
        """What it left in /outputs, once it is finished."""
        return self.result().outputs

    def evidence(self) -> bytes:
        """The signed statement about how it ended: a Sigstore bundle in JSON, as `record.evidence` names it by digest."""
        return drive(steps.evidence(self._calls, self.id))

    def logs(self, *, after: int = -1, follow: bool = True) -> Iterator[LogRow]:
        """Yields what it writes, until it is finished. A connection that breaks is resumed without a gap."""
        rows = log_rows(self._calls, self.id, after=after, follow=follow)
        try:
            while (row := drive(_next(rows))) is not None:
                yield row
        finally:
            drive(rows.aclose())

    def cancel(self, reason: Optional[str] = None) -> None:
        """Ends the run, at whatever stage it is. Its result follows when nothing of it is alive."""
        drive(steps.cancel(self._calls, self.id, reason))

    def rerun(
        self,
        *,
        latest_inputs: bool = False,
        inputs: Optional[Mapping[str, Any]] = None,
        params: Optional[Mapping[str, Any]] = None,
    ) -> Run:
        """Submits the same request again, on the same inputs or on what their names point to now."""
        accepted = drive(steps.rerun(self._calls, self.id, latest_inputs, inputs, params))
        return Run(self._calls, accepted.run, accepted.warnings or [])

    def __repr__(self) -> str:
        return f"<run {self.id}>"
