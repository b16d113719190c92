"""A parser of `test_fuzz` under atheris, which looks for new paths through it: `python -m tests.faults.guided NAME`."""

import sys

import atheris

with atheris.instrument_imports(include=["windlass"]):
    from tests.faults.test_fuzz import SEEDS

PARSERS = {parser.__name__: parser for parser in SEEDS}

if __name__ == "__main__":
    parser = PARSERS[sys.argv.pop(1)]
    atheris.Setup(sys.argv, parser)
    atheris.Fuzz()
