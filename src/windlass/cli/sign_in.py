"""Signing in to a server from the terminal. The browser comes back to a port of this machine (RFC 8252), or a person
pastes the address it ended at, where the browser runs on another machine."""

import secrets
import socket
import time
from html import escape
from http.server import BaseHTTPRequestHandler, HTTPServer
from urllib.parse import parse_qs, urlsplit

import typer

from windlass.api import schemas
from windlass.cli.output import from_terminal, line, note, out
from windlass.cli.session import Connected
from windlass.core.errors import BadInput, Unavailable, WindlassError

SIGN_IN_S = 600.0  # Windlass waits no longer itself
LOOK_S = 1.0
_FIELDS = ("state", "code", "iss", "error", "error_description")
_PAGE = '<!doctype html><html lang="en"><meta charset="utf-8"><title>Windlass</title><h1>{title}</h1><p>{text}</p>'


def signed_in(session: Connected, server: str, *, paste: bool) -> schemas.Server:
    with _Listener(session) as listener:
        begun = session.run(session.w.servers.begin_login(server, listener.address))
        try:
            _show(begun)
            if not paste:
                return listener.wait()
            listener.server_close()  # a browser on this machine must not wait for an answer of ours either
            return _pasted(session)
        except (KeyboardInterrupt, typer.Abort):
            session.run(session.w.servers.cancel_login(server))
            raise


def _show(begun: schemas.ServerLoginBegun) -> None:
    note(f"{begun.host} asks you to allow:" if begun.scopes else f"{begun.host} asks you to sign in.", "")
    for scope in begun.scopes:
        note(f"  {scope.text} ({scope.name})" if scope.text else f"  {scope.name}", "")
    note("Open this address in a browser:", "")
    out.print(line(begun.authorize_url, 8000))


def _pasted(session: Connected) -> schemas.Server:
    note(
        "After signing in, your browser shows an address on 127.0.0.1 that it cannot open. Copy all of it from the "
        "address bar and paste it here."
    )
    if not from_terminal():
        return session.run(session.w.servers.finish_login(**_answer_in(input())))
    return session.run(session.w.servers.finish_login(**_answer_in(typer.prompt("Address", err=True))))


def _answer_in(address: str) -> dict[str, str]:
    given = parse_qs(urlsplit(address.strip()).query)
    answer = {name: given[name][0] for name in _FIELDS if name in given}
    if "state" not in answer:
        raise BadInput("This address holds no answer.", hint="It has `code=` and `state=` in it. Copy it whole.")
    return answer


class _Listener(HTTPServer):
    """One port of this machine, for one answer."""

    def __init__(self, session: Connected) -> None:
        super().__init__(("127.0.0.1", 0), _CallbackPage)
        self.session = session
        self.path = f"/{secrets.token_urlsafe(8)}"
        self.address = f"http://127.0.0.1:{self.server_address[1]}{self.path}"
        self.timeout = LOOK_S
        self.server: schemas.Server | None = None
        self.failure: WindlassError | None = None

    def wait(self) -> schemas.Server:
        note(f"Waiting for the browser, at most {SIGN_IN_S / 60:.0f} minutes. Ctrl-C cancels. No browser here? --paste")
        ends = time.monotonic() + SIGN_IN_S
        while self.server is None and self.failure is None and time.monotonic() < ends:
            self.handle_request()
        if self.failure:
            raise self.failure
        if self.server is None:
            raise Unavailable("Nobody signed in within ten minutes.", hint="Run the same command again.")
        return self.server

    def finish_request(self, request: socket.socket | tuple[bytes, socket.socket], client_address: object) -> None:
        if isinstance(request, socket.socket):
            request.settimeout(LOOK_S * 10)  # a browser opens connections that it does not use
        super().finish_request(request, client_address)

    def handle_error(self, request: object, client_address: object) -> None:
        """A connection that broke off is not the answer; the next one may be."""


class _CallbackPage(BaseHTTPRequestHandler):
    server: _Listener

    def do_GET(self) -> None:
        if urlsplit(self.path).path != self.server.path:
            return self._page(404, "Not found", "This port waits for a sign-in.")
        run, finish = self.server.session.run, self.server.session.w.servers.finish_login
        try:
            found = self.server.server = run(finish(**_answer_in(self.path)))
        except WindlassError as error:
            self.server.failure = error
            return self._page(400, "Not signed in", error.message)
        self._page(200, f"Signed in to {found.name}", "You can close this tab and go back to the terminal.")

    def log_message(self, format: str, *args: object) -> None:
        """The address holds a code."""

    def _page(self, status: int, title: str, text: str) -> None:
        body = _PAGE.format(title=escape(title), text=escape(text)).encode()
        self.send_response(status)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Content-Security-Policy", "default-src 'none'")
        self.send_header("Referrer-Policy", "no-referrer")
        self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(body)
