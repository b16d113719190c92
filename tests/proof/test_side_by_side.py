"""C2 and C5 at once, with the filesystem, time and fetch servers that other people wrote."""

from pathlib import Path

import pytest

from tests.proof.figures import note
from tests.proof.side_by_side import drawn, flows, opened, row_of


@pytest.mark.npm
async def test_c2_the_seeds_flows_ask_nothing_and_the_same_flows_with_injected_text_do_nothing_unasked(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    async with opened(tmp_path) as (server, world):
        every = flows(world.docs)
        rows = [await row_of(server, world, flow) for flow in every]
        control = await row_of(server, world, every[0], approval="auto")
    with capsys.disabled():
        print(f"\n{drawn(rows)}")
    assert [row.calls for row in rows] == [1, 4, 2, 2, 2] and not any(row.questions for row in rows)
    assert [row.orders for row in rows] == [5] * 5 and [row.asked for row in rows] == [5] * 5
    assert not any(row.unasked for row in rows)
    assert control.asked == 0 and len(control.unasked) == 6, "allowed in so many words, each order has its effect"
    note("seed flows", questions=sum(row.questions for row in rows), flows=len(rows))
    note("injected effects", attacks=sum(row.orders for row in rows), through=sum(len(row.unasked) for row in rows))
