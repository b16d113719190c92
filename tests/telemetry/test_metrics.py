"""The loop's lag as the operator sees it."""

from pathlib import Path

import pytest

from tests.kit.loop_clock import LoopClock
from tests.kit.waiting import turns_of_the_loop, until
from tests.web.kit import open_site
from windlass.telemetry.metrics import LAG_BUCKETS_S, LAG_EVERY_S, LoopLag


async def test_e4_a_loop_that_was_held_up_is_in_the_histogram(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = LoopClock(monkeypatch)
    lag = LoopLag()
    lag.start()
    clock.jump(LAG_EVERY_S + 0.3)  # as if one step had taken so long
    await until(lambda: lag.count == 1, "the first look")
    lag.stop()
    assert lag.sum_s > 0.29
    cumulated = dict(lag.buckets())
    assert cumulated["0.25"] == 0 and cumulated["+Inf"] == 1


async def test_e4_buckets_add_up_and_a_timer_that_fires_early_is_no_lag() -> None:
    lag = LoopLag()
    for seconds in (-0.001, 0.0, 0.001, 0.0011, 0.2, 60.0):
        lag.observe(seconds)
    assert [name for name, _ in lag.buckets()] == [*(f"{bound:g}" for bound in LAG_BUCKETS_S), "+Inf"]
    counts = [count for _, count in lag.buckets()]
    assert counts == sorted(counts) and counts[0] == 3 and counts[-1] == lag.count == 6
    assert lag.sum_s == pytest.approx(60.2021)


async def test_e4_it_looks_again_and_again_until_it_is_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = LoopClock(monkeypatch)
    lag = LoopLag()
    lag.start()
    for looks in range(1, 4):
        clock.jump(LAG_EVERY_S)
        await until(lambda looks=looks: lag.count >= looks, "the next look")  # type: ignore[misc]
    lag.stop()
    seen = lag.count
    clock.jump(10 * LAG_EVERY_S)
    await turns_of_the_loop(5)
    assert lag.count == seen
    lag.stop()


async def test_e4_metrics_show_the_histogram_and_it_ends_with_the_app(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with open_site(tmp_path / "home") as site:
        lag = site.app.telemetry.loop_lag
        await until(lambda: lag.count > 0, "the first look")
        text = (await site.call("GET", "/metrics")).text
    assert "# HELP windlass_loop_lag_seconds " in text and "\n# TYPE windlass_loop_lag_seconds histogram\n" in text
    samples = dict(line.rsplit(" ", 1) for line in text.splitlines() if line.startswith("windlass_loop_lag_seconds"))
    buckets = [int(samples[f'windlass_loop_lag_seconds_bucket{{le="{bound:g}"}}']) for bound in LAG_BUCKETS_S]
    count = int(samples["windlass_loop_lag_seconds_count"])
    assert buckets == sorted(buckets) and int(samples['windlass_loop_lag_seconds_bucket{le="+Inf"}']) == count > 0
    assert float(samples["windlass_loop_lag_seconds_sum"]) >= 0
    assert "\nwindlass_watchers 0\n" in text  # those that were there stay
    seen = lag.count
    LoopClock(monkeypatch).jump(10 * LAG_EVERY_S)
    await turns_of_the_loop(5)
    assert lag.count == seen
