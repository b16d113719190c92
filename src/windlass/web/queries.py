"""The small parts of a request: a header, the query."""

from urllib.parse import parse_qsl

from starlette.types import Scope

from windlass.core.errors import BadInput

MOST_FIELDS = 100


def header_of(scope: Scope, wanted: bytes) -> str:
    return next((value.decode("latin-1") for name, value in scope["headers"] if name == wanted), "")


def query_of(scope: Scope) -> list[tuple[str, str]]:
    try:
        return parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True, max_num_fields=MOST_FIELDS)
    except ValueError:
        raise BadInput(f"The query has more than {MOST_FIELDS} fields.") from None
