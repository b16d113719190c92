"""The page's types are those of the server."""

from dataclasses import dataclass
from typing import Literal

import msgspec
import pytest

from ui.generate_types import UI, Writer, files
from windlass.api.schemas import Request, Response

Colour = Literal["red", "green"]


class Asked(Request):
    name: str
    colour: Colour = "red"
    parts: list[Literal["x", "y"]] = msgspec.field(default_factory=list)


class Given(Response):
    asked: Asked
    count: int = 0
    note: str | msgspec.UnsetType | None = msgspec.UNSET


@dataclass
class Happened:
    text: str
    seen: tuple[int, ...] = ()


WRITER = Writer({"Colour": ("red", "green")}, {Happened: "Happened"})


@pytest.mark.parametrize("name", files())
def test_the_generated_types_of_the_page_are_up_to_date(name: str) -> None:
    assert (UI / name).read_text() == files()[name], "the schemas changed: run `make types`"


def test_a_field_with_a_default_may_be_left_out_of_a_request() -> None:
    assert WRITER.interface("Asked", Asked).splitlines()[-4:] == [
        "  name: string;",
        "  colour?: Colour;",
        '  parts?: ("x" | "y")[];',
        "}",
    ]


def test_an_answer_leaves_out_only_what_may_be_unset() -> None:
    assert WRITER.interface("Given", Given).splitlines()[-4:] == [
        "  asked: Asked;",
        "  count: number;",
        "  note?: string | null;",
        "}",
    ]


def test_an_event_has_its_name_as_its_type() -> None:
    assert WRITER.event(Happened, "happened", "EventHeader") == (
        'export interface Happened extends EventHeader {\n  type: "happened";\n  text: string;\n  seen?: number[];\n}\n'
    )
