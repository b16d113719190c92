"""The way to a provider: its certificate, an operator's own authority, the environment's proxy."""

import asyncio
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path

import pytest
import uvloop
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID
from yarl import URL

from tests.providers.kit import QUICK, Recorder, ask, talking
from windlass.core.errors import ModelError
from windlass.providers import Models, ProviderConfig
from windlass.providers.config import proxy_for

NAMES = [x509.IPAddress(ip_address("127.0.0.1")), x509.DNSName("models.example")]
ANSWER = b'data: {"choices":[{"delta":{"content":"Hi"},"finish_reason":"stop"}]}\n\n'


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A certificate for 127.0.0.1 and models.example that nobody signed, with its key in one file."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "windlass tests")])
    now = datetime.now(UTC)
    signed = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName(NAMES), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    pem = serialization.Encoding.PEM
    secret = key.private_bytes(pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    path = tmp_path_factory.mktemp("tls") / "both.pem"
    path.write_bytes(signed.public_bytes(pem) + secret)
    return path


@asynccontextmanager
async def secure_server(certificate: Path) -> AsyncIterator[str]:
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await reader.readuntil(b"\r\n\r\n")
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n" + ANSWER)
            await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()

    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(certificate)
    server = await asyncio.start_server(answer, "127.0.0.1", 0, ssl=context)
    try:
        yield f"https://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"
    finally:
        server.close()


async def replied(base_url: str, ca_file: str) -> str:
    models = Models([ProviderConfig("a", base_url=base_url, model="m", ca_file=ca_file, patience=QUICK)])
    try:
        return (await models.reply(ask(), Recorder())).text
    finally:
        await models.aclose()


async def test_a_certificate_nobody_knows_is_refused_for_good(certificate: Path) -> None:
    async with secure_server(certificate) as base_url:
        with pytest.raises(ModelError) as caught:
            await replied(base_url, "")
    assert (caught.value.code, caught.value.retryable) == ("tls", False)
    assert "SSL_CERT_FILE" in caught.value.hint


async def test_an_operators_own_authority_is_trusted(certificate: Path) -> None:
    async with secure_server(certificate) as base_url:
        assert await replied(base_url, str(certificate)) == "Hi"


async def test_a_ca_file_that_is_not_there_is_said(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"none\.pem cannot be read"):
        await replied("https://127.0.0.1/v1", str(tmp_path / "none.pem"))


@pytest.mark.parametrize(
    ("url", "proxy"),
    [
        ("https://api.z.ai/v4", "http://proxy:3128"),
        ("http://api.z.ai/v4", None),
        ("https://internal.example/v1", None),
        ("https://127.0.0.1:8000/v1", None),
        ("https://localhost/v1", None),
        ("https://[::1]:8000/v1", None),
    ],
)
def test_the_proxy_of_the_environment_is_used_but_not_for_this_machine(
    url: str, proxy: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY", "HTTPS_PROXY", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("https_proxy", "http://me:secret@proxy:3128")
    monkeypatch.setenv("no_proxy", "internal.example")
    found, headers = proxy_for(URL(url))
    assert found == (URL(proxy) if proxy else None)
    assert headers == ({"Proxy-Authorization": "Basic bWU6c2VjcmV0"} if proxy else {})


async def test_requests_really_go_through_the_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[bytes] = []

    async def proxy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        asked.append(await reader.readuntil(b"\r\n\r\n"))
        writer.write(b"HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n")

    async with talking(proxy) as port:
        monkeypatch.setenv("http_proxy", f"http://me:secret@127.0.0.1:{port}")
        with pytest.raises(ModelError, match="HTTP 403"):
            await replied("http://models.example/v1", "")
    assert asked[0].startswith(b"POST http://models.example/v1/chat/completions HTTP/1.1\r\n")
    assert b"Proxy-Authorization: Basic bWU6c2VjcmV0\r\n" in asked[0]


async def tunnel(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, asked: list[bytes]) -> None:
    """A proxy that opens the way it is asked for, and then only carries bytes."""
    asked.append(await reader.readuntil(b"\r\n\r\n"))
    port = asked[0].split()[1].rpartition(b":")[2]
    far_reader, far_writer = await asyncio.open_connection("127.0.0.1", int(port))
    writer.write(b"HTTP/1.1 200 Connection established\r\n\r\n")

    async def carry(source: asyncio.StreamReader, to: asyncio.StreamWriter) -> None:
        while piece := await source.read(4096):
            to.write(piece)
        to.close()

    try:
        await asyncio.gather(carry(reader, far_writer), carry(far_reader, writer), return_exceptions=True)
    finally:
        far_writer.close()


@asynccontextmanager
async def a_proxy(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[list[bytes]]:
    asked: list[bytes] = []
    async with talking(lambda reader, writer: tunnel(reader, writer, asked)) as port:
        monkeypatch.setenv("https_proxy", f"http://me:secret@127.0.0.1:{port}")
        yield asked


async def test_a_secure_request_goes_through_the_proxys_tunnel(
    certificate: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with secure_server(certificate) as base_url, a_proxy(monkeypatch) as asked:
        address = base_url.replace("127.0.0.1", "models.example")
        assert await replied(address, str(certificate)) == "Hi"
    assert asked[0].startswith(b"CONNECT models.example:")
    assert b"Proxy-Authorization: Basic bWU6c2VjcmV0\r\n" in asked[0]


def test_the_loop_that_the_server_runs_on_does_the_same(certificate: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """TLS is done by the loop, and the other tests run on Python's own."""
    uvloop.run(test_a_secure_request_goes_through_the_proxys_tunnel(certificate, monkeypatch))


async def test_the_host_is_checked_inside_the_tunnel_too(certificate: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with secure_server(certificate) as base_url, a_proxy(monkeypatch):
        with pytest.raises(ModelError) as caught:
            await replied(base_url.replace("127.0.0.1", "other.example"), str(certificate))
    assert (caught.value.code, caught.value.retryable) == ("tls", False)


async def test_a_proxy_that_refuses_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    async def refuse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n")

    async with talking(refuse) as port:
        monkeypatch.setenv("https_proxy", f"http://127.0.0.1:{port}")
        with pytest.raises(ModelError, match="407") as caught:
            await replied("https://models.example/v1", "")
    assert caught.value.code == "proxy"
