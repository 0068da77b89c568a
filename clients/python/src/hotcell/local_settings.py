"""Where the API is and which key to use: both as passed or from the environment, or both from a local installation's
files. A job can write files, so a key from elsewhere never goes to an address from a file."""

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
    if not url and not api_key:
        url, api_key = _installed()
    if not url:
        raise HotcellError(
            "invalid",
            "An API key, but no address of the API.",
            hint="Pass url or set HOTCELL_URL, for example to http://127.0.0.1:7411. The address in a local "
            "installation's files is used only with the key in the same files.",
        )
    if not url.startswith(("http://", "https://")):
        raise HotcellError("invalid", f"{url} is not an address of the API: it must begin with http:// or https://.")
    if not api_key:
        raise NotAuthenticated(
            "unauthenticated",
            f"No API key for {url}.",
            hint="Pass api_key or set HOTCELL_API_KEY. The key in a local installation's files is used only with the "
            "address in the same files.",
        )
    if not (api_key.isascii() and api_key.isprintable()):
        raise NotAuthenticated(
            "unauthenticated", "The API key has characters that no key has.", hint="Check HOTCELL_API_KEY."
        )
    return Settings(url.rstrip("/"), api_key, tenant)


def _installed() -> tuple[str, str]:
    home = _home()
    url = _setting(home, "HOTCELL_URL") if home else None
    if home is None or not url:
        raise HotcellError(
            "invalid",
            "No address of the API.",
            hint="Pass url and api_key, or set HOTCELL_URL, for example to http://127.0.0.1:7411, and HOTCELL_API_KEY. "
            "A local installation is found from its checkout or by HOTCELL_HOME.",
        )
    api_key = _kept_key(home)
    if not api_key:
        raise NotAuthenticated(
            "unauthenticated",
            f"No API key in {home / 'credentials'}.",
            hint="./hotcell up creates a key. Or pass url and api_key, or set HOTCELL_URL and HOTCELL_API_KEY.",
        )
    return url, api_key


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
