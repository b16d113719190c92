"""One run becomes a file of figures, a picture and a section of a page."""

import struct
from pathlib import Path
from xml.etree import ElementTree

import pytest

from benchmarks.figures import NoSection, with_speed
from benchmarks.picture import UnknownPicture, draw
from benchmarks.plot import svg
from benchmarks.report import Run, as_json, from_json
from benchmarks.rows import Row, absent, row

WHEN = "2030-01-02T03:04:05+00:00"
MACHINE: dict[str, str | int | float] = {"at": WHEN, "processor": "x", "cores": 2, "load": 0.5, "python": "3.11"}
PAGE = "# Figures\n\nBefore.\n\n## Speed: old\n\nold words\n\n## Survival\n\nAfter.\n"


def figure(who: str, ms: float, note: str = "") -> Row:
    return row("S1", who, [ms], "ms", note=note, subject=who)


RUN = Run(
    MACHINE,
    (
        figure("floor, library, normal", 0.5),
        figure("floor, server, normal", 1),
        figure("Windlass, normal", 4),
        figure("quick & small 1.0", 8, "9 us CPU a turn; library: no store"),
        figure("slow 2.0", 40, "99 us CPU a turn; server: no token"),
        absent("S1", "gone", "not installed: <no such version>", "gone"),
        row("S1", "Windlass normal / floor server normal", [4.0], "x", limit=3),
        row("S4", "Windlass, normal, 50 at once", [600.0], "turns/s", limit=500, at_least=True),
    ),
)


def test_figures_that_were_written_are_read_back_the_missing_one_too() -> None:
    again = from_json(as_json(RUN))
    assert again.machine == RUN.machine
    assert [row for row in again.rows if not row.absent] == [row for row in RUN.rows if not row.absent]
    assert [(row.what, row.note) for row in again.rows if row.absent] == [("gone", "not installed: <no such version>")]


def test_a_picture_names_who_was_measured_what_they_leave_out_and_who_is_missing() -> None:
    drawing = ElementTree.fromstring(svg(RUN))
    said = [element.text for element in drawing.findall(".//{*}text")]
    assert {"floor", "Windlass", "quick & small 1.0", "slow 2.0", "gone"} <= set(said)
    assert {"library: no store", "server: no token", "not installed: <no such version>", "no figure"} <= set(said)
    assert {"4.00 x, at most 3: missed", "600 turns/s, at least 500"} <= set(said)
    assert "floor, library, normal" not in said


def test_a_bar_is_as_long_as_its_figure() -> None:
    drawing = ElementTree.fromstring(svg(RUN))
    ours, *_ = (float(bar.attrib["width"]) for bar in drawing.findall(".//{*}rect") if bar.attrib["class"] == "ours")
    quick, slow = (
        float(bar.attrib["width"]) for bar in drawing.findall(".//{*}rect") if bar.attrib["class"] == "other"
    )
    assert slow / quick == pytest.approx(5, rel=0.01)
    assert slow / ours == pytest.approx(10, rel=0.01)


@pytest.mark.browser
def test_a_png_comes_in_light_and_dark_at_twice_the_size(tmp_path: Path) -> None:
    draw(RUN, tmp_path / "speed.png")
    light, dark = (tmp_path / "speed.png").read_bytes(), (tmp_path / "speed-dark.png").read_bytes()
    drawn = ElementTree.fromstring(svg(RUN)).attrib
    for picture in (light, dark):
        assert picture.startswith(b"\x89PNG")
        assert struct.unpack(">II", picture[16:24]) == (2 * int(drawn["width"]), 2 * int(drawn["height"]))
    assert light != dark


def test_an_svg_is_written_as_it_is_and_other_endings_are_refused(tmp_path: Path) -> None:
    draw(RUN, tmp_path / "speed.svg")
    assert (tmp_path / "speed.svg").read_text() == svg(RUN)
    with pytest.raises(UnknownPicture):
        draw(RUN, tmp_path / "speed.gif")


def test_a_page_gets_its_section_on_speed_anew_and_keeps_the_rest() -> None:
    page = with_speed(PAGE, RUN, "pictures/speed.png")
    assert page.startswith("# Figures\n\nBefore.\n\n## Speed: `make bench PEERS=1`, 2030-01-02, load 0.5\n")
    assert page.endswith("\n\n## Survival\n\nAfter.\n")
    assert "old words" not in page
    assert 'srcset="pictures/speed-dark.png"' in page and 'src="pictures/speed.png"' in page
    assert "\n- S1, Windlass normal / floor server normal: 4.00 x, at most 3\n" in page
    assert with_speed(page, RUN, "pictures/speed.png") == page


def test_a_run_without_peers_does_not_speak_of_them() -> None:
    alone = Run(MACHINE, (figure("Windlass, normal", 4),))
    page = with_speed(PAGE, alone)
    assert "## Speed: `make bench`, 2030-01-02" in page
    assert "peer" not in page and "<picture>" not in page


def test_a_page_without_the_section_is_refused() -> None:
    with pytest.raises(NoSection):
        with_speed("# Figures\n", RUN)
