"""Runs in the interpreter of a session, where hotcell.session_work sends it: commands beside each other, and files. A step
has one order in JSON and shows one answer."""

import base64
import json
import os
import shutil
import signal
import stat
import subprocess
import threading
from collections.abc import Callable
from typing import Any, Optional

_root = "/work/workspace"
# Of both streams of a command, and of one piece of a file: an answer is shown, and a step shows at most 8 MiB.
_most_bytes = 4 * 1024 * 1024
# How long output is waited for that processes in the background may hold open.
_drain_seconds = 0.3


class _Answer:
    """Its repr is JSON, once: the interpreter keeps what was shown."""

    def __init__(self, said: dict[str, Any]) -> None:
        self._text = json.dumps(said)

    def __repr__(self) -> str:
        text, self._text = self._text, ""
        return text


class _Wake:
    """An interrupt ends a wait, so that the next step gets its turn, and nothing else."""

    def __init__(self) -> None:
        self.came = False
        self.waiting = False

    def __call__(self, *_: Any) -> None:
        self.came = True
        if self.waiting:
            self.waiting = False
            raise KeyboardInterrupt

    def wait(self, event: threading.Event, seconds: float) -> None:
        try:
            self.waiting = not self.came
            if self.waiting:
                event.wait(seconds)
            self.waiting = False
        except KeyboardInterrupt:
            pass


class _Command:
    def __init__(self, argv: list[str], env: dict[str, str], timeout: Optional[float], ended: Callable[[], None]) -> None:
        self.why = "exited"
        self.over = False
        self._kept = {"stdout": bytearray(), "stderr": bytearray()}
        self._state = threading.Lock()
        self._process = subprocess.Popen(
            argv,
            cwd=_root,
            env={**os.environ, **env},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
        pipes = {"stdout": self._process.stdout, "stderr": self._process.stderr}
        self._readers = [threading.Thread(target=self._read, args=one, daemon=True) for one in pipes.items()]
        threading.Thread(target=self._watch, args=(timeout, ended), daemon=True).start()

    def kill(self, why: str) -> None:
        """With all that did not begin a session of its own."""
        with self._state:
            if self._process.poll() is None:
                self.why = why
                os.killpg(self._process.pid, signal.SIGKILL)

    def told(self) -> dict[str, Any]:
        code = self._process.returncode
        kept = {name: base64.b64encode(data).decode() for name, data in self._kept.items()}
        return {"why": self.why, "exit": 128 - code if code < 0 else code, **kept}

    def _read(self, name: str, pipe: Any) -> None:
        # To the end, also when nothing is kept any more: a process in the background must not wait for us.
        while chunk := os.read(pipe.fileno(), 65536):
            with self._state:
                room = 0 if self.over else _most_bytes - sum(map(len, self._kept.values()))
                self._kept[name].extend(chunk[:room])
            if not self.over and len(chunk) > room:
                self.kill("overflowed")
        pipe.close()

    def _watch(self, timeout: Optional[float], ended: Callable[[], None]) -> None:
        for reader in self._readers:
            reader.start()
        try:
            self._process.wait(timeout)
        except subprocess.TimeoutExpired:
            self.kill("timed out")
            self._process.wait()
        for reader in self._readers:
            reader.join(_drain_seconds)
        with self._state:
            self.over = True
        ended()


class _Program:
    def __init__(self) -> None:
        self._wake = _Wake()
        self._commands: dict[str, _Command] = {}
        # Taken back, perhaps before they came.
        self._stopped: set[str] = set()
        self._news = threading.Event()
        os.makedirs(_root, exist_ok=True)

    def __call__(self, order: str) -> _Answer:
        self._wake.came = False
        signal.signal(signal.SIGINT, self._wake)
        said = json.loads(order)
        try:
            return _Answer(getattr(self, said.pop("do"))(**said))
        except ValueError as error:
            return _Answer({"invalid": str(error)})
        except OSError as error:
            return _Answer({"errno": error.errno or 5, "message": error.strerror or str(error)})

    def start(self, command: str, argv: list[str], env: dict[str, str], timeout: Optional[float], **waiting: Any) -> Any:
        """Asked again, it is the same command."""
        if command not in self._commands and command not in self._stopped:
            try:
                self._commands[command] = _Command(argv, env, timeout, self._news.set)
            except OSError as error:
                # As a shell says it.
                text = base64.b64encode(f"{argv[0]}: {error.strerror}\n".encode()).decode()
                code = 127 if isinstance(error, FileNotFoundError) else 126
                return {"ended": command, "why": "exited", "exit": code, "stdout": "", "stderr": text}
        return self.wait(**waiting)

    def wait(self, of: list[str], seconds: float) -> dict[str, Any]:
        """The first that is over, or unknown; else none, when the time is over or another step waits."""
        self._news.clear()
        said = self._first(of)
        if said is None:
            self._wake.wait(self._news, seconds)
            said = self._first(of)
        return said or {}

    def _first(self, of: list[str]) -> Optional[dict[str, Any]]:
        for name in of:
            command = self._commands.get(name)
            if command is None:
                return {"ended": name, "why": "unknown"}
            if command.over:
                return {"ended": name, **self._commands.pop(name).told()}
        return None

    def stop(self, command: str) -> dict[str, Any]:
        self._stopped.add(command)
        if running := self._commands.pop(command, None):
            running.kill("stopped")
        return {}

    def read(self, path: str, begin: int) -> dict[str, Any]:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
        try:
            about = os.fstat(descriptor)
            if stat.S_ISDIR(about.st_mode):
                raise IsADirectoryError(21, "is a directory")
            if not stat.S_ISREG(about.st_mode):
                raise OSError(22, "not a regular file")
            data = os.pread(descriptor, _most_bytes, begin)
        finally:
            os.close(descriptor)
        state = [about.st_ino, about.st_size, about.st_mtime_ns]
        return {"data": base64.b64encode(data).decode(), "state": state, "size": about.st_size}

    def write(self, path: str, part: str, begin: int) -> dict[str, Any]:
        try:
            os.makedirs(os.path.dirname(path), exist_ok=True)
        except FileExistsError:
            raise NotADirectoryError(20, "a parent is no directory") from None
        if os.path.exists(path) and not os.path.isdir(path) and not os.path.isfile(path):
            raise OSError(22, "not a regular file")
        with open(path, "r+b" if begin else "wb") as file, open(part, "rb") as come:
            file.seek(begin)
            shutil.copyfileobj(come, file)
        return {}

    def stat(self, path: str) -> dict[str, Any]:
        return {"entry": _entry(path, os.stat(path))}

    def list_dir(self, path: str) -> dict[str, Any]:
        return {"entries": [_listed(f"{path.rstrip('/')}/{name}") for name in sorted(os.listdir(path))]}

    def make_dir(self, path: str) -> dict[str, Any]:
        os.makedirs(path, exist_ok=True)
        return {}

    def remove(self, path: str) -> dict[str, Any]:
        inside = os.path.join(os.path.realpath(os.path.dirname(path)), os.path.basename(path))
        if f"{_root}/".startswith(f"{os.path.normpath(inside).rstrip('/')}/"):
            raise ValueError("The working directory and those around it can't be removed.")
        if os.path.isdir(path) and not os.path.islink(path):
            shutil.rmtree(path)
        else:
            os.unlink(path)
        return {}

    def exists(self, path: str) -> dict[str, Any]:
        return {"exists": os.path.exists(path)}

    def realpath(self, path: str) -> dict[str, Any]:
        return {"path": os.path.realpath(path)}


def _listed(path: str) -> dict[str, Any]:
    try:
        return _entry(path, os.stat(path))
    except OSError:
        # A link that leads nowhere, or in a circle.
        return {"path": path, "is_dir": False, "size": None}


def _entry(path: str, about: os.stat_result) -> dict[str, Any]:
    is_dir = stat.S_ISDIR(about.st_mode)
    return {"path": path, "is_dir": is_dir, "size": None if is_dir else about.st_size}


_hotcell = _Program()
