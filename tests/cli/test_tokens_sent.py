"""Which server is given the token of the data folder: its own, and no other."""

import json
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import pytest

from tests.cli.conftest import Commands

SAVED, GIVEN = "token-of-this-data-folder", "token-given-for-another"
REFUSAL = json.dumps({"error": {"code": "unauthorized", "message": "This needs the access token."}}).encode()
VERBS = (("servers", "list"), ("mcp",))


class Listener(ThreadingHTTPServer):
    """Refuses everything, and keeps what it was sent."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Refusing)
        self.seen: list[str | None] = []

    def url(self, host: str = "127.0.0.1") -> str:
        return f"http://{host}:{self.server_port}"


class Refusing(BaseHTTPRequestHandler):
    server: Listener

    def refuse(self) -> None:
        self.server.seen.append(self.headers["Authorization"])
        self.send_response(401)
        self.send_header("Content-Length", str(len(REFUSAL)))
        self.end_headers()
        self.wfile.write(REFUSAL)

    do_GET = do_POST = do_DELETE = refuse

    def log_message(self, *_: object) -> None: ...


@pytest.fixture
def listener() -> Iterator[Listener]:
    with Listener() as server:
        thread = Thread(target=server.serve_forever)
        thread.start()
        yield server
        server.shutdown()
        thread.join()


@pytest.fixture
def commands(alone: Commands) -> Commands:
    alone.home.mkdir(mode=0o700)
    (alone.home / "token").write_text(SAVED)
    return alone


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize("running", ["", "http://127.0.0.1:9/", "https://127.0.0.1:{}/", "http://10.0.0.1:{}/"])
def test_another_server_is_not_given_it_and_the_error_says_what_to_give(
    commands: Commands, listener: Listener, verb: tuple[str, ...], running: str
) -> None:
    """Another port, scheme or host is another server."""
    if running:
        own = running.format(listener.server_port)
        (commands.home / "server.json").write_text(json.dumps({"url": own, "pid": 1}))
    done = commands("--url", listener.url(), *verb)
    assert set(listener.seen) == {None}
    assert done.code == 1 and "WINDLASS_TOKEN" in done.err


def test_what_only_begins_like_its_own_address_is_not_given_it(commands: Commands, listener: Listener) -> None:
    (commands.home / "server.json").write_text('{"url": "http://127.0.0.1:80/", "pid": 1}')
    address = listener.url().replace("http://", "http://127.0.0.1:80@")
    commands("--url", address, "servers", "list")
    assert not any(SAVED in (seen or "") for seen in listener.seen)


@pytest.mark.parametrize("verb", VERBS)
def test_another_server_is_given_the_token_that_was_given_for_it(
    commands: Commands, listener: Listener, verb: tuple[str, ...]
) -> None:
    commands("--url", listener.url(), *verb, WINDLASS_TOKEN=GIVEN)
    assert set(listener.seen) == {f"Bearer {GIVEN}"}


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
def test_its_own_server_is_given_it_under_both_names_of_this_machine(
    commands: Commands, listener: Listener, verb: tuple[str, ...], host: str
) -> None:
    (commands.home / "server.json").write_text(json.dumps({"url": f"{listener.url()}/", "pid": 1}))
    commands("--url", listener.url(host), *verb)
    assert set(listener.seen) == {f"Bearer {SAVED}"}
