"""A proxy between a client and the API that loses what a network loses. Both ends are real."""

import os
import re
import socket
import threading
from collections.abc import Callable
from urllib.parse import urlsplit


class Proxy:
    """Passes bytes on. `cut` decides, for each piece of an answer, how much of it still passes before the connection breaks;
    `instead`, for each piece of a request, with which status the proxy answers it by itself."""

    def __init__(self) -> None:
        api = urlsplit(os.environ["HOTCELL_URL"])
        self._api = (api.hostname or "", api.port or 80)
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        self.cut: Callable[[bytes], int | None] = lambda piece: None
        self.instead: Callable[[bytes], int | None] = lambda piece: None
        self.away = False
        self.asked: list[bytes] = []
        self._open: set[socket.socket] = set()
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            if self.away:
                client.close()
                continue
            api = socket.create_connection(self._api)
            self._open |= {client, api}
            threading.Thread(target=self._pass, args=(client, api, True), daemon=True).start()
            threading.Thread(target=self._pass, args=(api, client, False), daemon=True).start()

    def _pass(self, source: socket.socket, target: socket.socket, asking: bool) -> None:
        try:
            while piece := source.recv(65536):
                if asking:
                    self.asked.append(piece)
                    if (status := self.instead(piece)) is not None:
                        _read_whole(source, piece)
                        head = f"HTTP/1.1 {status} No\r\ncontent-length: 5\r\nconnection: close\r\n\r\n"
                        source.sendall(head.encode() + b"<br/>")
                        break
                elif (most := self.cut(piece)) is not None:
                    target.sendall(piece[:most])
                    break
                target.sendall(piece)
        except OSError:
            pass
        for end in (source, target):
            with_shutdown(end)

    def leave(self) -> None:
        """Breaks every connection and takes no new one."""
        self.away = True
        for end in list(self._open):
            with_shutdown(end)

    def close(self) -> None:
        self._listener.close()
        self.leave()
        for end in self._open:
            end.close()


def _read_whole(source: socket.socket, piece: bytes) -> None:
    """A connection that is closed before all was read may take the answer with it."""
    head, _, body = piece.partition(b"\r\n\r\n")
    length = re.search(rb"content-length: (\d+)", head.lower())
    left = int(length[1]) - len(body) if length else 0
    while left > 0 and (more := source.recv(65536)):
        left -= len(more)


def with_shutdown(end: socket.socket) -> None:
    try:
        end.shutdown(socket.SHUT_RDWR)
    except OSError:
        pass
