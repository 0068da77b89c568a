"""The exception for each problem that the API answers."""

import json

from hotcell.answered import Answered
from hotcell.failures import (
    ApiUnreachable,
    HotcellError,
    Issue,
    NotAllowed,
    NotAuthenticated,
    NotFound,
    Refused,
    TooMany,
)

_hints = {
    "unauthenticated": "Set HOTCELL_API_KEY to a key that is in use. ./hotcell apikey create makes one.",
    "forbidden": "Use a key with the role that it needs: submitter for runs and snapshots, admin for keys.",
    "policy_refused": "Hotcell().policy(NAME) and ./hotcell policy show NAME say what a policy allows.",
    "quota_exceeded": "Try again when fewer runs wait, or ask the operator for a larger quota.",
    "queue_full": "Try again when fewer runs wait.",
}
_by_status: dict[int, type[HotcellError]] = {401: NotAuthenticated, 403: NotAllowed, 404: NotFound, 429: TooMany}


def error_of(answer: Answered) -> HotcellError:
    from pydantic import ValidationError

    from hotcell.snapshot_answers import Problem

    try:
        problem = Problem.model_validate_json(answer.body)
    except ValidationError:
        return _without_reason(answer.status)
    kind = Refused if problem.code == "policy_refused" else _by_status.get(problem.status, HotcellError)
    run = json.loads(answer.body).get("run")
    return kind(
        problem.code,
        problem.detail,
        hint=_hints.get(problem.code, ""),
        issues=[Issue(one.path, one.message) for one in problem.errors],
        run=run if isinstance(run, str) else None,
        status=problem.status,
        request_id=problem.request_id,
        retryable=problem.retryable,
    )


def _without_reason(status: int) -> HotcellError:
    """The API always says why: such an answer comes from something before it, which says by 5xx that it is away."""
    what = f"Something before the API answered {status} without a reason of Hotcell's."
    if status >= 500:
        hint = "The API may be away: try again, or check HOTCELL_URL."
        return ApiUnreachable("api_unreachable", what, hint=hint, status=status, retryable=True)
    return HotcellError("internal", what, hint="Check HOTCELL_URL.", status=status)
