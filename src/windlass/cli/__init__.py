"""The command line: verbs that talk to a running server, or open the data folder themselves when none runs."""

import sys

from windlass.version import VERSION


def main() -> None:
    if sys.argv[1:] in (["--version"], ["-V"]):
        sys.stdout.write(f"windlass {VERSION}\n")
        return
    from windlass.cli.program import run  # takes half as long again to load, and --version needs none of it

    sys.exit(run(sys.argv[1:], own_process=True))
