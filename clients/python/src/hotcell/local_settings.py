"""Where the API is and which key to use: as passed, from the environment, or from a local installation's files."""

from __future__ import annotations

import os
from pathlib import Path
from typing import NamedTuple, Optional

from hotcell.failures import HotcellError, NotAuthenticated


class Settings(NamedTuple):
    url: str
    api_key: str
    tenant: Optional[str]


def find_settings(url: Optional[str], api_key: Optional[str], tenant: Optional[str]) -> Settings:
    url = url or os.environ.get("HOTCELL_URL")
    api_key = api_key or os.environ.get("HOTCELL_API_KEY")
    home = None if url and api_key else _home()
    url = url or (_setting(home, "HOTCELL_URL") if home else None)
    if not url:
        raise HotcellError(
            "invalid",
            "No address of the API.",
            hint="Pass url or set HOTCELL_URL, for example to http://127.0.0.1:7411. A local installation is found "
            "from its checkout or by HOTCELL_HOME.",
        )
    if not url.startswith(("http://", "https://")):
        raise HotcellError("invalid", f"{url} is not an address of the API: it must begin with http:// or https://.")
    api_key = api_key or (_kept_key(home) if home else None)
    if not api_key:
        raise NotAuthenticated(
            "unauthenticated", "No API key.", hint="Pass api_key or set HOTCELL_API_KEY. ./hotcell up creates a key."
        )
    return Settings(url.rstrip("/"), api_key, tenant)


def _home() -> Optional[Path]:
    """HOTCELL_HOME, or the `.hotcell` of this folder or one above it."""
    named = os.environ.get("HOTCELL_HOME")
    if named:
        return Path(named)
    here = Path.cwd()
    return next((home for folder in [here, *here.parents] if (home := folder / ".hotcell").is_dir()), None)


def _setting(home: Path, name: str) -> Optional[str]:
    lines = _text(home / "config.env").splitlines()
    return next((line[len(name) + 1 :].strip() for line in lines if line.startswith(f"{name}=")), None)


def _kept_key(home: Path) -> Optional[str]:
    return _text(home / "credentials").strip() or None


def _text(path: Path) -> str:
    try:
        return path.read_text("utf-8")
    except OSError:
        return ""
