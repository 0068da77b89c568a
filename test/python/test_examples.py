import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

page = Path(os.environ["TEST_README"])
examples = re.findall(r"^```python\n(.*?)^```", page.read_text("utf-8"), re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("example", examples, ids=range(len(examples)))
def test_an_example_of_the_page_runs_as_it_stands(example: str, tmp_path: Path) -> None:
    ended = subprocess.run([sys.executable, "-c", example], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stderr) == (0, "")
    assert ended.stdout.strip()


def test_the_page_has_examples() -> None:
    assert len(examples) >= 2
