"""The two kinds of connections, over httpx."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Coroutine, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from typing import Any, TypeVar
from urllib.parse import urlsplit

import httpx

from hotcell.answered import Answered
from hotcell.failures import ApiUnreachable
from hotcell.local_settings import Settings
from hotcell.wire import Asked, Opened, drive

T = TypeVar("T")
Steps = Callable[[], Coroutine[Any, Any, None]]

# Waiting runs hold a connection each; more than these wait for one of them.
_limits = httpx.Limits(max_connections=128, max_keepalive_connections=32, keepalive_expiry=30)
_connecting = 10.0
# Uploads and downloads of one call.
_at_once = 8


def _options(settings: Settings) -> dict[str, Any]:
    headers = {"authorization": f"Bearer {settings.api_key}", "user-agent": "hotcell-python"}
    if settings.tenant is not None:
        headers["hotcell-tenant"] = settings.tenant
    secure = settings.url.startswith("https://")
    # Certificates take long to load, and no proxy leads to this machine itself.
    local = urlsplit(settings.url).hostname in ("127.0.0.1", "localhost", "::1")
    return {
        "base_url": settings.url,
        "headers": headers,
        "limits": _limits,
        "follow_redirects": False,
        "verify": secure,
        "trust_env": not local,
    }


def _request(client: Any, asked: Asked) -> httpx.Request:
    timeout = httpx.Timeout(asked.timeout, connect=_connecting, pool=None)
    request: httpx.Request = client.build_request(
        asked.method, asked.path, params=asked.query, headers=asked.headers, content=asked.body, timeout=timeout
    )
    return request


def _unreachable(url: str, error: Exception) -> ApiUnreachable:
    why = str(error) or type(error).__name__
    return ApiUnreachable(
        "api_unreachable",
        f"No whole answer from {url}: {why}.",
        hint="Start the services with ./hotcell up, or set HOTCELL_URL.",
        retryable=True,
    )


class _SyncOpened:
    def __init__(self, answer: httpx.Response) -> None:
        self._answer = answer
        self.status = answer.status_code

    async def whole(self) -> Answered:
        return Answered(self.status, self._answer.headers, self._answer.read())

    async def chunks(self) -> AsyncGenerator[bytes, None]:
        for chunk in self._answer.iter_bytes():
            yield chunk


class _AsyncOpened(_SyncOpened):
    async def whole(self) -> Answered:
        return Answered(self.status, self._answer.headers, await self._answer.aread())

    async def chunks(self) -> AsyncGenerator[bytes, None]:
        async for chunk in self._answer.aiter_bytes():
            yield chunk


def _driven(steps: Steps) -> None:
    drive(steps())


class SyncWire:
    def __init__(self, settings: Settings) -> None:
        self._url = settings.url
        self._client = httpx.Client(**_options(settings))

    async def send(self, asked: Asked) -> Answered:
        async with self.open(asked) as opened:
            return await opened.whole()

    @asynccontextmanager
    async def open(self, asked: Asked) -> AsyncIterator[Opened]:
        try:
            answer = self._client.send(_request(self._client, asked), stream=True)
            try:
                yield _SyncOpened(answer)
            finally:
                answer.close()
        except httpx.HTTPError as error:
            raise _unreachable(self._url, error) from error

    async def together(self, steps: Sequence[Steps]) -> None:
        with ThreadPoolExecutor(_at_once) as pool:
            begun = [pool.submit(_driven, one) for one in steps]
            try:
                for end in begun:
                    end.result()
            finally:
                pool.shutdown(cancel_futures=True)

    async def pause(self, seconds: float) -> None:
        time.sleep(seconds)

    async def offload(self, work: Callable[..., T], *args: Any) -> T:
        return work(*args)

    async def close(self) -> None:
        self._client.close()


class AsyncWire:
    def __init__(self, settings: Settings) -> None:
        self._url = settings.url
        self._client = httpx.AsyncClient(**_options(settings))

    async def send(self, asked: Asked) -> Answered:
        async with self.open(asked) as opened:
            return await opened.whole()

    @asynccontextmanager
    async def open(self, asked: Asked) -> AsyncIterator[Opened]:
        try:
            answer = await self._client.send(_request(self._client, asked), stream=True)
            try:
                yield _AsyncOpened(answer)
            finally:
                await answer.aclose()
        except httpx.HTTPError as error:
            raise _unreachable(self._url, error) from error

    async def together(self, steps: Sequence[Steps]) -> None:
        free = asyncio.Semaphore(_at_once)

        async def in_turn(one: Steps) -> None:
            async with free:
                await one()

        ends = await asyncio.gather(*map(in_turn, steps), return_exceptions=True)
        for end in ends:
            if isinstance(end, BaseException):
                raise end

    async def pause(self, seconds: float) -> None:
        await asyncio.sleep(seconds)

    async def offload(self, work: Callable[..., T], *args: Any) -> T:
        return await asyncio.to_thread(work, *args)

    async def close(self) -> None:
        await self._client.aclose()
