"""What can go wrong between a caller and a result. A program that fails is a result, not an error."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Optional

if TYPE_CHECKING:
    from hotcell.finished import BaseResult
    from hotcell.session_step import BaseStep


class Issue(NamedTuple):
    path: str
    message: str


class HotcellError(Exception):
    """`code` is of the closed list in the API's description; `hint` says what to do next."""

    def __init__(
        self,
        code: str,
        message: str,
        *,
        hint: str = "",
        issues: Sequence[Issue] = (),
        log_tail: str = "",
        run: Optional[str] = None,
        status: Optional[int] = None,
        request_id: Optional[str] = None,
        retryable: bool = False,
    ) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.hint = hint
        self.issues = tuple(issues)
        self.log_tail = log_tail
        self.run = run
        self.status = status
        self.request_id = request_id
        self.retryable = retryable

    def __str__(self) -> str:
        # A single issue is usually the message itself.
        issues = [f"  {one.path}: {one.message}" for one in self.issues if one.message not in self.message]
        log = [f"The log ends with:\n{self.log_tail.rstrip()}"] if self.log_tail.strip() else []
        return "\n".join([self.message, *issues, *([self.hint] if self.hint else []), *log])


class ApiUnreachable(HotcellError):
    """The API did not answer, or its answer was cut off."""


class NotAuthenticated(HotcellError):
    """No API key, or one that is not in use any more."""


class NotAllowed(HotcellError):
    """The role of this key does not allow it."""


class NotFound(HotcellError):
    """Does not exist, or belongs to another tenant."""


class Refused(HotcellError):
    """The policy refused the run; `issues` has every reason, `run` the id of the recorded refusal."""


class TooMany(HotcellError):
    """A quota or a limit of the API is reached; it may pass."""


class WaitTimeout(HotcellError, TimeoutError):
    """The run goes on: only the waiting ended."""


class DamagedOutput(HotcellError):
    """The bytes that came are not those of the digest in the result."""


class RunFailed(HotcellError):
    """Raised by `Result.check()` if the program did not succeed."""

    def __init__(self, result: BaseResult[Any], code: str = "run_failed") -> None:
        super().__init__(
            code,
            f"Run {result.run} {result.outcome}: {result.reason}",
            log_tail=result.log[-2000:],
            run=result.run,
        )
        self.result = result


class RunLost(RunFailed):
    """The platform failed, even after it tried again. The program is not to blame; `result` has what is known."""

    def __init__(self, result: BaseResult[Any]) -> None:
        super().__init__(result, "run_lost")
        self.hint = "Submit the run again; the operator finds its attempts with ./hotcell show."


class StepFailed(HotcellError):
    """Raised by `Step.check()` if a step of a session did not succeed. The session goes on."""

    def __init__(self, step: BaseStep, code: str = "step_failed") -> None:
        super().__init__(
            code,
            f"Step {step.index} of session {step.run} {step.outcome or 'did not run'}: {step.reason}",
            log_tail=(step.stdout + step.stderr)[-2000:],
            run=step.run,
        )
        self.step = step


class StepLost(StepFailed):
    """The session ended before the step did: by its platform, its limits or another caller."""

    def __init__(self, step: BaseStep) -> None:
        super().__init__(step, "step_lost")
        self.hint = "Start another session; ./hotcell show has every step that this one finished."
