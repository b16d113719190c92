"""Real proxies in front of a server: nginx and others, each on a port of its own, with TLS where that is wanted."""

import asyncio
import os
import shutil
import subprocess
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import pytest

from tests.kit.waiting import PATIENCE_S


def _found(name: str) -> str | None:
    return shutil.which(name) or shutil.which(name, path="/usr/sbin:/usr/local/sbin")


NGINX, HAPROXY, CADDY = _found("nginx"), _found("haproxy"), _found("caddy")
needs_haproxy = pytest.mark.skipif(
    not (HAPROXY and shutil.which("openssl")), reason="haproxy or openssl is not installed"
)
needs_caddy = pytest.mark.skipif(not (CADDY and shutil.which("openssl")), reason="caddy or openssl is not installed")
needs_nginx = pytest.mark.skipif(not (NGINX and shutil.which("openssl")), reason="nginx or openssl is not installed")

# Buffering, timeouts and the Host header stay as nginx has them when nothing is said.
_NGINX = """
daemon off; master_process off; pid {folder}/nginx.pid; error_log {folder}/error.log;
events {{}}
http {{
    access_log off;
    client_body_temp_path {folder}/body; proxy_temp_path {folder}/proxy; fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi; scgi_temp_path {folder}/scgi;
    {server}
}}
"""
_SERVER = """
    server {{
        listen 127.0.0.1:{port}{tls};
        {certificate}
        location {at} {{ proxy_pass http://127.0.0.1:{upstream}{path}; {more} }}
    }}
"""
_HAPROXY = """
defaults
    mode http
    timeout connect 10s
    timeout client 1h
    timeout server 1m
"""


@asynccontextmanager
async def nginx(
    folder: Path, port: int, upstream: int, *, at: str = "/", path: str = "", tls: bool = False, more: str = ""
) -> AsyncIterator[None]:
    """In front of `upstream`, below `at`; with `path` it takes that off, as nginx does with any path of the target."""
    folder.mkdir()
    certificate = f"ssl_certificate {folder}/tls.crt; ssl_certificate_key {folder}/tls.key;" if tls else ""
    if tls:
        make_certificate(folder)
    server = _SERVER.format(
        port=port, upstream=upstream, at=at, path=path, more=more, tls=" ssl" * tls, certificate=certificate
    )
    async with nginx_with(folder, port, server):
        yield


@asynccontextmanager
async def nginx_with(folder: Path, port: int, server: str) -> AsyncIterator[None]:
    """`server` is the whole block."""
    (folder / "nginx.conf").write_text(_NGINX.format(folder=folder, server=server))
    assert NGINX
    argv = (NGINX, "-p", str(folder), "-e", str(folder / "error.log"), "-c", str(folder / "nginx.conf"))
    async with running(*argv, port=port, log=folder / "error.log"):
        yield


@asynccontextmanager
async def haproxy_with(folder: Path, port: int, sections: str) -> AsyncIterator[None]:
    (folder / "haproxy.cfg").write_text(_HAPROXY + sections)
    assert HAPROXY
    async with running(HAPROXY, "-db", "-f", str(folder / "haproxy.cfg"), port=port, log=folder / "none"):
        yield


@asynccontextmanager
async def caddy_with(folder: Path, port: int, site: str) -> AsyncIterator[None]:
    (folder / "Caddyfile").write_text("{\n  admin off\n  skip_install_trust\n  auto_https off\n}\n" + site)
    assert CADDY
    argv = (CADDY, "run", "--adapter", "caddyfile", "--config", str(folder / "Caddyfile"))
    async with running(*argv, port=port, log=folder / "none", home=folder):
        yield


@asynccontextmanager
async def running(*argv: str, port: int, log: Path, home: Path = Path("/nonexistent")) -> AsyncIterator[None]:
    env = {"PATH": os.environ["PATH"], "HOME": str(home)}
    quiet = asyncio.subprocess.DEVNULL
    process = await asyncio.create_subprocess_exec(*argv, env=env, stdout=quiet, stderr=quiet)
    try:
        await _listens(process, port, log)
        yield
    finally:
        with suppress(ProcessLookupError):
            process.kill()
        await process.wait()


def make_certificate(folder: Path) -> None:
    subprocess.run(
        (
            *("openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"),
            *("-subj", "/CN=chat.test", "-days", "2", "-keyout", folder / "tls.key", "-out", folder / "tls.crt"),
        ),
        check=True,
        capture_output=True,
    )


async def _listens(process: asyncio.subprocess.Process, port: int, log: Path) -> None:
    async with asyncio.timeout(PATIENCE_S):
        while True:
            assert process.returncode is None, log.read_text() if log.exists() else "the proxy ended"
            with suppress(OSError):
                _, writer = await asyncio.open_connection("127.0.0.1", port)
                writer.close()
                return
            await asyncio.sleep(0.02)  # another process's port is looked at
