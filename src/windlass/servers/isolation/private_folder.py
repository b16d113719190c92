"""A server's own folder: where it works unless told otherwise, and where caches, settings and state go that it would
else keep in the home. Each server has its own, so that none can leave code in a cache for another to run.

The server writes in the folders inside it. The folder itself, and the files in it that Windlass makes, it can only
read: it could put a link in their place, and Windlass would follow that at the next start."""

import os
import re
import shutil
from collections.abc import Sequence
from pathlib import Path

from windlass.servers.isolation.hidden_paths import is_under

_FOLDERS = ("work", "cache", "config", "share", "state", "tmp")
# Settings of package managers: where they lie in the home, the copy, the variable that names it, the lines copied.
_PACKAGE_SETTINGS = (
    (
        *(".npmrc", "npmrc", "npm_config_userconfig"),
        re.compile(r"(@[\w.-]+:)?(registry|proxy|https-proxy|noproxy|cafile|strict-ssl)\s*="),
    ),
    (
        *(".config/pip/pip.conf", "pip.conf", "PIP_CONFIG_FILE"),
        re.compile(r"\[\w+\]|(index-url|extra-index-url|find-links|trusted-host|cert|proxy)\s*="),
    ),
    (
        *(".config/uv/uv.toml", "uv.toml", "UV_CONFIG_FILE"),
        re.compile(r"\[\[index\]\]|(name|url|default|index-url|extra-index-url|native-tls|system-certs)\s*="),
    ),
)


class PrivateFolder:
    def __init__(self, path: Path) -> None:
        self.path = str(path)
        self.work = f"{self.path}/work"
        self.cache = f"{self.path}/cache"
        self.tmp = f"{self.path}/tmp"  # noqa: S108 - not the shared one
        self.empty = f"{self.path}/.empty"  # what covers a hidden file
        self.rules = f"{self.path}/.rules.json"

    @property
    def writable(self) -> tuple[str, ...]:
        return tuple(f"{self.path}/{name}" for name in _FOLDERS)

    def make(self, home: str, hidden: Sequence[str]) -> None:
        for name in _FOLDERS:
            os.makedirs(f"{self.path}/{name}", mode=0o700, exist_ok=True)
        Path(self.empty).touch(mode=0o400)
        for source, name, _, kept in _PACKAGE_SETTINGS:
            self._copy_settings(f"{home}/{source}", name, kept)
        for ours, theirs in (("config", ".config"), ("share", ".local/share")):
            self._link(f"{self.path}/{ours}", f"{home}/{theirs}", hidden)

    def environment(self, home: str) -> dict[str, str]:
        cache = self.cache
        found = {
            "XDG_CACHE_HOME": cache,
            "XDG_CONFIG_HOME": f"{self.path}/config",
            "XDG_DATA_HOME": f"{self.path}/share",
            "XDG_STATE_HOME": f"{self.path}/state",
            "npm_config_cache": f"{cache}/npm",
            "npm_config_update_notifier": "false",
            "UV_CACHE_DIR": f"{cache}/uv",
            "UV_TOOL_DIR": f"{cache}/uv-tools",
            "PIP_CACHE_DIR": f"{cache}/pip",
            "PYTHONDONTWRITEBYTECODE": "1",
            "UV_PYTHON_INSTALL_DIR": _first_folder(f"{home}/.local/share/uv/python", f"{cache}/uv-python"),
        }
        found |= {variable: f"{self.path}/{name}" for _, name, variable, _ in _PACKAGE_SETTINGS}
        browsers = f"{home}/.cache/ms-playwright"
        return {**found, "PLAYWRIGHT_BROWSERS_PATH": browsers} if os.path.isdir(browsers) else found

    def remove(self) -> None:
        shutil.rmtree(self.path, ignore_errors=True)

    def _copy_settings(self, source: str, name: str, kept: re.Pattern[str]) -> None:
        """Registry and proxy must survive, credentials must not."""
        try:
            lines = Path(source).read_text(errors="replace").splitlines()
        except OSError:
            lines = []
        safe = [line for line in lines if kept.match(line.strip()) and "@" not in line.partition("=")[2]]
        Path(self.path, name).write_text("".join(f"{line}\n" for line in safe))

    def _link(self, ours: str, theirs: str, hidden: Sequence[str]) -> None:
        """What the home has there can still be read; what is new is written here."""
        try:
            names = os.listdir(theirs)
        except OSError:
            names = []
        for name in names:
            path = f"{theirs}/{name}"
            if not os.path.lexists(f"{ours}/{name}") and not any(is_under(os.path.realpath(path), h) for h in hidden):
                os.symlink(path, f"{ours}/{name}")
        for name in os.listdir(ours):
            link = f"{ours}/{name}"
            if os.path.islink(link) and any(is_under(os.path.realpath(link), h) for h in hidden):
                os.unlink(link)


def _first_folder(*paths: str) -> str:
    return next((path for path in paths if os.path.isdir(path)), paths[-1])
