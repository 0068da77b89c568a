from pathlib import Path

import pandas
import polars
import pytest

from hotcell import AsyncHotcell, Hotcell, HotcellError, NotFound
from hotcell.notebook import table_of

writes = """
import os
os.makedirs('/outputs/deep/er')
open('/outputs/a.txt', 'w').write('a')
open('/outputs/deep/er/b c.bin', 'wb').write(bytes(range(256)) * 1000)
os.symlink('/etc/passwd', '/outputs/link')
"""


def test_outputs_are_listed_read_and_saved_with_their_digests(hotcell: Hotcell, tmp_path: Path) -> None:
    outputs = hotcell.run(writes).outputs
    assert [file.path for file in outputs] == ["a.txt", "deep/er/b c.bin"]
    assert [(one.path, "symbolic link" in one.reason) for one in outputs.refused] == [("link", True)]
    assert outputs.bytes("a.txt") == b"a"
    saved = outputs.save(tmp_path / "new")
    assert saved[1].read_bytes() == bytes(range(256)) * 1000
    with pytest.raises(NotFound, match="a.txt"):
        outputs.bytes("other")


def test_no_link_of_the_folder_is_followed(hotcell: Hotcell, tmp_path: Path) -> None:
    outputs = hotcell.run(writes).outputs
    (victim := tmp_path / "victim").mkdir()
    (victim / "a.txt").write_text("mine")
    (folder := tmp_path / "folder").mkdir()
    (folder / "a.txt").symlink_to(victim / "a.txt")
    (folder / "deep").symlink_to(victim)
    outputs.save(folder, ["a.txt"])
    assert (folder / "a.txt").read_text() == "a" and not (folder / "a.txt").is_symlink()
    with pytest.raises(OSError):
        outputs.save(folder, ["deep/er/b c.bin"])
    assert (victim / "a.txt").read_text() == "mine" and list(victim.iterdir()) == [victim / "a.txt"]


def test_outputs_of_one_run_are_the_input_of_the_next(hotcell: Hotcell) -> None:
    run = hotcell.submit("open('/outputs/x', 'w').write('from the first')")
    run.result().check()
    assert hotcell.run("print(open('/inputs/first/x').read())", inputs={"first": run}).stdout == "from the first\n"


@pytest.mark.parametrize("library", [pandas, polars])
def test_a_data_frame_is_frozen_as_parquet(hotcell: Hotcell, library: object) -> None:
    frame = library.DataFrame({"a": [1, 2, 3]})  # type: ignore[attr-defined]
    snapshot = hotcell.snapshot(frame, name="numbers")
    assert snapshot.name == "numbers" and snapshot.files == 1
    code = "import polars; print(polars.read_parquet('/inputs/d/data.parquet')['a'].sum())"
    assert hotcell.run(code, inputs={"d": "numbers"}).stdout == "6\n"
    assert hotcell.run(code, inputs={"d": frame}).stdout == "6\n"


def test_a_folder_and_a_file_are_frozen_and_sent_once(hotcell: Hotcell, tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "one.txt").write_text("one")
    (tmp_path / "two.txt").write_text("two")
    # The keys of an installation are no data.
    (tmp_path / "sub" / ".hotcell").mkdir()
    (tmp_path / "sub" / ".hotcell" / "credentials").write_text("hc_secret")
    folder = hotcell.snapshot(tmp_path)
    assert (folder.files, folder.bytes) == (2, 6)
    assert hotcell.snapshot(tmp_path).id == folder.id
    code = "print(open('/inputs/a/sub/one.txt').read(), open('/inputs/b/two.txt').read())"
    assert hotcell.run(code, inputs={"a": folder, "b": tmp_path / "two.txt"}).stdout == "one two\n"


def test_a_folder_with_a_link_is_refused_by_name(hotcell: Hotcell, tmp_path: Path) -> None:
    (tmp_path / "l").symlink_to("/etc/passwd")
    with pytest.raises(HotcellError, match="is a link"):
        hotcell.snapshot(tmp_path)


async def test_the_client_of_an_event_loop_does_the_same(tmp_path: Path) -> None:
    async with AsyncHotcell() as hotcell:
        snapshot = await hotcell.snapshot(pandas.DataFrame({"a": [1]}))
        run = await hotcell.submit(writes, inputs={"d": snapshot})
        rows = [row async for row in run.logs()]
        result = await run.result()
        assert result.ok and rows == [] and await result.outputs.bytes("a.txt") == b"a"
        assert len(await result.outputs.save(tmp_path)) == 2


def test_a_notebook_shows_log_pictures_and_tables_and_nothing_of_a_job_as_markup(hotcell: Hotcell) -> None:
    result = hotcell.run(
        "print('<script>1</script>')\n"
        "open('/outputs/p.png', 'wb').write(b'png')\n"
        "open('/outputs/t.csv', 'w').write('a,<b>\\n1,2\\n')\n"
        "import polars; polars.DataFrame({'frame': [7]}).write_parquet('/outputs/f.parquet')"
    )
    page = result._repr_mimebundle_()["text/html"]
    assert "<script>" not in page and "&lt;script&gt;" in page and "&lt;b&gt;" in page
    assert 'src="data:image/png;base64,cG5n"' in page and "<td>2</td>" in page
    # A job wrote the Parquet, and its parser is native code.
    assert f"{result.run}:outputs" in page and "/inputs/run/f.parquet" in page and "<th>" not in page
    code = "import polars; print(polars.read_parquet('/inputs/run/f.parquet')['frame'].sum())"
    assert hotcell.run(code, inputs={"run": f"{result.run}:outputs"}).stdout == "7\n"


@pytest.mark.parametrize("row", ["x," * 1_000_000, '"' + "x" * 3_000_000, "x\n" * 1_000_000, '"",' * 1_000_000 + "\n" + "y"])
def test_a_table_of_any_shape_is_a_small_part_of_a_notebooks_page(row: str) -> None:
    page = table_of(f"first,<b>\n{row}".encode())
    assert "<td>first</td>" in page and "<b>" not in page and len(page) < 20_000
