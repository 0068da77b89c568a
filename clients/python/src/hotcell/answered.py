"""An answer of the API whose body was read to its end."""

from collections.abc import Mapping
from typing import NamedTuple


class Answered(NamedTuple):
    status: int
    headers: Mapping[str, str]
    body: bytes
