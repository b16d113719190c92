"""Real proxies in front of a server: nginx and others, each on a port of its own, with TLS where that is wanted."""

import asyncio
import shutil
import subprocess
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import pytest

from tests.kit.waiting import PATIENCE_S

NGINX = shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin:/usr/local/sbin")
needs_nginx = pytest.mark.skipif(not (NGINX and shutil.which("openssl")), reason="nginx or openssl is not installed")

# Buffering, timeouts and the Host header stay as nginx has them when nothing is said.
_NGINX = """
daemon off; master_process off; pid {folder}/nginx.pid; error_log {folder}/error.log;
events {{}}
http {{
    access_log off;
    client_body_temp_path {folder}/body; proxy_temp_path {folder}/proxy; fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi; scgi_temp_path {folder}/scgi;
    server {{
        listen 127.0.0.1:{port}{tls};
        {certificate}
        location {at} {{ proxy_pass http://127.0.0.1:{upstream}{path}; {more} }}
    }}
}}
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
    text = _NGINX.format(
        folder=folder,
        port=port,
        upstream=upstream,
        at=at,
        path=path,
        more=more,
        tls=" ssl" * tls,
        certificate=certificate,
    )
    (folder / "nginx.conf").write_text(text)
    assert NGINX
    argv = (NGINX, "-p", str(folder), "-e", str(folder / "error.log"), "-c", str(folder / "nginx.conf"))
    async with running(*argv, port=port, log=folder / "error.log"):
        yield


@asynccontextmanager
async def running(*argv: str, port: int, log: Path) -> AsyncIterator[None]:
    process = await asyncio.create_subprocess_exec(*argv, stderr=asyncio.subprocess.DEVNULL)
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
