"""A connection that breaks: a proxy on loopback that drops the first few answers in their middle."""

import re
import socket
import socketserver
import struct
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress

AT_ONCE = struct.pack("ii", 1, 0)  # close with a reset, as a network would


@contextmanager
def cutting_proxy(port: int, letters: int, cuts: int) -> Iterator[str]:
    """Passes everything on to the port; the first `cuts` connections are broken off after so many letters."""
    lock, left = threading.Lock(), [cuts]

    class Answer(socketserver.BaseRequestHandler):
        def handle(self) -> None:
            with lock:
                room = letters if left[0] > 0 else 1 << 40
                left[0] -= 1
            with socket.create_connection(("127.0.0.1", port)) as inner, suppress(OSError):
                forth = threading.Thread(target=_forth, args=(self.request, inner, port))
                forth.start()
                while room > 0 and (news := inner.recv(min(room, 65536))):
                    self.request.sendall(news)
                    room -= len(news)
                self.request.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, AT_ONCE)
                self.request.shutdown(socket.SHUT_RD)
                forth.join()

    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Answer) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}"
        finally:
            server.shutdown()
            thread.join()


def _forth(outer: socket.socket, inner: socket.socket, port: int) -> None:
    host = f"Host: 127.0.0.1:{port}".encode()
    with suppress(OSError):
        while news := outer.recv(65536):
            inner.sendall(re.sub(rb"Host: [^\r]+", host, news))
        inner.shutdown(socket.SHUT_RDWR)
