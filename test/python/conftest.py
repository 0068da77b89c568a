import os
from collections.abc import Iterator

import pytest

from hotcell import Hotcell


@pytest.fixture
def hotcell() -> Iterator[Hotcell]:
    with Hotcell() as client:
        yield client


@pytest.fixture
def operator() -> Iterator[Hotcell]:
    """A client with the role admin."""
    with Hotcell(api_key=os.environ["TEST_ADMIN_KEY"]) as client:
        yield client
