"""Starts the ledger MCP server: `python -S -E tests/kit/ledger_server.py --ledger FILE`, see `--help`."""

import os
import sys

sys.path[0] = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from tests.kit.ledger.command import main  # noqa: E402 - the path to it comes first

if __name__ == "__main__":
    main()
