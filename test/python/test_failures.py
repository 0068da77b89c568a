"""Failures on purpose. What lies between client and API is a proxy of the test's own; both ends are real."""

import asyncio
import gc
import json
import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import httpx
import pytest
from cutting_proxy import Proxy

from hotcell import ApiUnreachable, AsyncHotcell, Hotcell, HotcellError, NotAllowed, NotAuthenticated, RunLost


@pytest.fixture
def proxy() -> Iterator[Proxy]:
    made = Proxy()
    yield made
    made.close()


@contextmanager
def new_key(role: str) -> Iterator[tuple[str, Callable[[], None]]]:
    """A key of its own, and what revokes it."""
    headers = {"authorization": f"Bearer {os.environ['TEST_ADMIN_KEY']}"}
    with httpx.Client(base_url=os.environ["HOTCELL_URL"], headers=headers, timeout=None) as api:
        made = api.post("/v1/apikeys", json={"role": role, "label": "test"}).raise_for_status().json()
        yield made["key"], lambda: api.delete(f"/v1/apikeys/{made['id']}").raise_for_status() and None


def test_an_api_that_goes_away_in_the_middle_and_comes_back_loses_nothing(proxy: Proxy) -> None:
    with Hotcell(proxy.url) as hotcell:
        run = hotcell.submit("import time\nfor i in range(6): print(i, flush=True); time.sleep(.2)")
        text = ""
        for row in run.logs():
            text += row.text or ""
            if not proxy.away and "1" in text:
                proxy.leave()
                threading.Timer(0.5, lambda: setattr(proxy, "away", False)).start()
        assert text == "0\n1\n2\n3\n4\n5\n"
        assert run.result().stdout == text


def test_an_api_that_stays_away_is_an_error_with_what_to_do_and_the_run_goes_on(proxy: Proxy, hotcell: Hotcell) -> None:
    with Hotcell(proxy.url, patience=1) as through:
        run = through.submit("import time; print('begun', flush=True); time.sleep(600)")
        with pytest.raises(ApiUnreachable, match=r"(?s)No whole answer from .*HOTCELL_URL") as failed:
            for _ in run.logs():
                proxy.leave()
        assert failed.value.retryable
    assert not (direct := hotcell.run_by_id(run.id)).is_finished()
    direct.cancel()
    assert direct.result().stdout == "begun\n"


def test_a_submission_whose_answer_is_lost_is_one_run(proxy: Proxy, hotcell: Hotcell) -> None:
    lost = []

    def cut(piece: bytes) -> int | None:
        if b" 202 " in piece and not lost:
            lost.append(piece)
            return 20
        return None

    proxy.cut = cut
    with Hotcell(proxy.url) as through:
        run = through.submit("print(1)", labels={"name": f"once-{proxy.url[-5:]}"})
    assert lost and json.loads(lost[0].partition(b"\r\n\r\n")[2])["run"] == run.id
    assert b"".join(proxy.asked).count(b"POST /v1/runs ") == 2


def test_a_step_whose_answers_are_lost_is_one_step(proxy: Proxy) -> None:
    seen: list[bytes] = []

    def cut(piece: bytes) -> int | None:
        if b'"index":1,' not in piece:
            return None
        seen.append(piece)
        # Lost is the first answer to the step and, as it was sent again, the first to the wait for it.
        return 20 if len(seen) in (1, 3) else None

    proxy.cut = cut
    with Hotcell(proxy.url) as through:
        with through.session() as session:
            session.run("x = 41")
            assert session.run("x += 1; x").value == "42"
            assert session.run("x").value == "42"
            # The result has it as well.
            proxy.cut = lambda piece: None
            assert len(seen) == 4
        assert len(session.result().record.steps or []) == 3
    assert b"".join(proxy.asked).count(f"POST /v1/runs/{session.id}/steps ".encode()) == 4


@pytest.mark.parametrize("status", [502, 503, 504])
def test_what_a_gateway_answers_in_words_of_its_own_is_repeated_where_that_is_safe(proxy: Proxy, status: int) -> None:
    hit: set[bytes] = set()

    def instead(piece: bytes) -> int | None:
        first = piece.partition(b"\r\n")[0]
        if b" /v1/" not in first or first in hit:
            return None
        hit.add(first)
        return status

    proxy.instead = instead
    with Hotcell(proxy.url) as through:
        run = through.submit("print(1)")
        assert run.result().stdout == "1\n"
        asked = b"".join(proxy.asked)
        assert (asked.count(b"POST /v1/runs "), asked.count(b"/events?")) == (2, 2)
        # A second rerun would be a second run.
        with pytest.raises(ApiUnreachable, match=f"answered {status} without a reason"):
            run.rerun()
        assert b"".join(proxy.asked).count(b"/rerun ") == 1


def test_an_answer_of_something_else_than_the_api_is_an_error_at_once(proxy: Proxy) -> None:
    proxy.instead = lambda piece: 404
    with Hotcell(proxy.url) as through:
        with pytest.raises(HotcellError, match=r"(?s)answered 404 without a reason.*HOTCELL_URL") as failed:
            through.policies()
    assert failed.value.code == "internal" and len(proxy.asked) == 1


@pytest.mark.parametrize("key", ["ключ", "a b", "", "x" * 256, "a\nb"])
def test_an_idempotency_key_that_no_header_can_carry_is_refused_before_anything_is_sent(proxy: Proxy, key: str) -> None:
    with Hotcell(proxy.url) as through:
        for ask in (through.submit, lambda _, **options: through.session(**options)):
            with pytest.raises(HotcellError, match="idempotency_key: must be 1 to 255 printable ASCII") as failed:
                ask("1", idempotency_key=key)
            assert failed.value.code == "invalid"
    assert proxy.asked == []


@pytest.mark.parametrize("after", [1, 100_000])
def test_an_output_that_is_cut_off_is_read_again_and_never_handed_on_in_part(proxy: Proxy, after: int, tmp_path: object) -> None:
    cuts = []

    def cut(piece: bytes) -> int | None:
        if b"x" * 1000 in piece and len(cuts) < 2:
            cuts.append(piece)
            return min(after, len(piece) - 1)
        return None

    with Hotcell(proxy.url) as hotcell:
        result = hotcell.run("open('/outputs/x', 'w').write('x' * 300_000)")
        proxy.cut = cut
        assert result.outputs.bytes("x") == b"x" * 300_000
        cuts.clear()
        (saved,) = result.outputs.save(f"{tmp_path}/out")
        assert saved.read_bytes() == b"x" * 300_000 and [one.name for one in saved.parent.iterdir()] == ["x"]
    assert cuts


def test_a_key_that_is_revoked_while_a_run_is_followed(hotcell: Hotcell) -> None:
    with new_key("submitter") as (key, revoke), Hotcell(api_key=key) as own:
        run = own.submit("import time; print('begun', flush=True); time.sleep(600)")
        for _ in run.logs():
            break
        revoke()
        with pytest.raises(NotAuthenticated, match="HOTCELL_API_KEY"):
            run.result()
    hotcell.run_by_id(run.id).cancel()


def test_a_role_that_may_not_submit() -> None:
    with new_key("reader") as (key, _), Hotcell(api_key=key) as reader:
        with pytest.raises(HotcellError) as failed:
            reader.snapshot(f"{__file__}")
        assert isinstance(failed.value, NotAllowed) and "role" in str(failed.value)


def test_a_run_that_the_platform_lost_is_raised_with_what_is_known(hotcell: Hotcell) -> None:
    with pytest.raises(RunLost, match="does not have the bytes that were frozen") as lost:
        hotcell.run("print(1)", inputs={"d": os.environ["TEST_DAMAGED_SNAPSHOT"]})
    assert lost.value.result.outcome == "lost" and lost.value.run


def test_no_address_and_no_key_say_what_to_set(monkeypatch: pytest.MonkeyPatch, tmp_path: object) -> None:
    for name in ("HOTCELL_URL", "HOTCELL_API_KEY", "HOTCELL_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(str(tmp_path))
    with pytest.raises(HotcellError, match="HOTCELL_URL"):
        Hotcell()
    with pytest.raises(NotAuthenticated, match="HOTCELL_API_KEY"):
        Hotcell("http://127.0.0.1:1")
    with pytest.raises(NotAuthenticated, match="characters that no key has"):
        Hotcell("http://127.0.0.1:1", "hc_ключ")
    with pytest.raises(NotAuthenticated):
        Hotcell(api_key="hc_no_such_key", url=os.environ.get("TEST_URL", "")).run("1")


async def test_waiting_can_be_abandoned_and_leaves_nothing_open() -> None:
    before = len(os.listdir("/proc/self/fd"))
    async with AsyncHotcell() as hotcell:
        run = await hotcell.submit("import time; print('begun', flush=True); time.sleep(600)")
        async for _ in run.logs():
            break
        task = asyncio.create_task(run.result())
        # It has begun by then, and how far it is does not matter.
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert not await run.is_finished()
        await run.cancel()
    gc.collect()
    assert len(os.listdir("/proc/self/fd")) <= before
