"""Which paths of a work folder stay where they are: on the host they are not sent, and from a cell they do not come back."""

from __future__ import annotations

from typing import Optional

# An installation's folder, with its credentials, its address and its keys.
_installation = ".hotcell"
most_path_bytes = 1000
_most_parts = 64


def why_it_stays(path: str) -> Optional[str]:
    """None if the path may travel."""
    if is_installation(path):
        return f"{_installation} is where an installation keeps its keys"
    if len(path.encode("utf-8", "surrogateescape")) > most_path_bytes:
        return f"its path has more than {most_path_bytes} bytes"
    if path.count("/") >= _most_parts:
        return f"its path has more than {_most_parts} parts"
    return None


def is_installation(path: str) -> bool:
    """On some file systems `.Hotcell` is the same folder."""
    return any(part.casefold() == _installation for part in path.split("/"))
