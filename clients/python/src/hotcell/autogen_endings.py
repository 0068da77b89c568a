"""What AutoGen is told of the end of a call."""

from __future__ import annotations

from hotcell.finished import Result

# Of the first block, which lays out the work folder.
_own_block = 1
# The words of AutoGen's two executors: its own callers look for the one or the other.
cancelled_text = "Code execution was cancelled.\nCancelled"


def output_of(result: Result) -> str:
    return result.log_from(_own_block)


def ended(result: Result) -> tuple[int, str]:
    """The exit code, and what is said behind the program's own output."""
    outcome = result.outcome
    if outcome == "timed_out":
        return 124, "\n Timeout"
    if outcome == "cancelled":
        return 1, cancelled_text
    if result.blocks and result.blocks[0].exit_code not in (0, None):
        return 1, f"The work folder could not be laid out in the cell: {result.log.strip()} {result.reason}"
    if outcome in ("succeeded", "failed") and result.exit_code is not None:
        return result.exit_code, ""
    # The kernel or a limit ended it, and a model has to learn which.
    code = {"out_of_memory": 137, "output_exceeded": 153, "rejected": 126}.get(outcome, 1)
    return code, f"\n{result.reason}"
