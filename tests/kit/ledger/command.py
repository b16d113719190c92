"""The command line of the ledger server, and its life on standard input and output."""

import argparse
import json
import os
import sys
import time

from tests.kit.ledger.faults import FAULTS, Output
from tests.kit.ledger.journal import Journal
from tests.kit.ledger.library import Library
from tests.kit.ledger.protocol import Protocol
from tests.kit.ledger.toolbox import Toolbox


def main() -> None:
    options = _options()
    journal = Journal(options.ledger)
    journal.write("born", argv=sys.argv[1:])
    if "exit" in options.fault:
        sys.exit("ledger: exiting at once as asked")
    while options.start_gate and not os.path.exists(options.start_gate):
        time.sleep(0.005)  # a file cannot tell when it is there
    toolbox = Toolbox(options.extra, options.tools, options.describe, options.page, options.only)
    library = Library(options.library)
    protocol = Protocol(options.era == "stateless", options.version, toolbox, journal, options.gate, library)
    if options.http is None:
        _serve_lines(protocol, Output(options.fault, options.times))
    else:
        from tests.kit.ledger.streamable import serve_http  # slow to import, and seldom wanted

        serve_http(protocol, journal, options.http, options.http_fault, options.bearer)
    journal.write("closed")
    os._exit(0)  # calls that hang must not keep the server alive


def _serve_lines(protocol: Protocol, output: Output) -> None:
    protocol.standing.add(output.send)
    for line in sys.stdin.buffer:
        if line.strip():
            protocol.receive(json.loads(line), output.send)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="An MCP server that writes down everything it does.")
    add = parser.add_argument
    add("--ledger", help="the file that every effect is appended to")
    add("--era", choices=["handshake", "stateless"], default="handshake")
    add("--version", help="agree to this handshake version only, e.g. 2025-06-18")
    add("--fault", action="append", default=[], choices=FAULTS, help="; ".join(f"{k}: {v}" for k, v in FAULTS.items()))
    add("--times", type=int, default=1, help="so many of what a fault puts before an answer")
    add("--gate", help="the file that slow tools wait for when their arguments name none")
    add("--start-gate", help="do not read anything before this file exists")
    add("--extra", type=int, default=0, help="offer this many generated tools more")
    add("--tools", help="offer these definitions too, as they stand: a JSON file with a list; calling one echoes")
    add("--describe", action="append", default=[], metavar="NAME=TEXT", help="give a tool another description")
    add("--only", help="offer only these tools, separated by commas")
    add("--library", metavar="FILE", help="what it offers besides tools; see ledger/library.py")
    add("--page", type=int, default=0, help="list tools in pages of this size")
    add("--http", type=int, metavar="PORT", help="serve streamable HTTP instead of standard input; 0 is any port")
    add("--http-fault", action="append", default=[], metavar="KIND[@CALL]", help="see ledger/streamable.py")
    add("--bearer", help="over HTTP, refuse every other token")
    return parser.parse_args()
