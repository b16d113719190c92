"""Which pictures and sounds a request shows: abilities, budget, refusals, and that the choice rarely changes."""

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.providers.kit import ask
from windlass.core.messages import ChatMessage, MediaRef, PastTurn
from windlass.providers.media import Abilities, KeptMedia, Media, MediaBudget, RequestMedia, chosen
from windlass.providers.media_types import true_mime
from windlass.providers.refusals import Refusals

SIGHT = Abilities(images=True)


def ref(number: int, size: int = 100, mime: str = "image/png") -> MediaRef:
    return MediaRef(f"result-{number}", 0, mime, size)


def letters(refs: list[MediaRef], abilities: Abilities = SIGHT, budget: MediaBudget = MediaBudget()) -> str:  # noqa: B008
    return "".join(chosen(refs, abilities, lambda one: "", budget).values())


@pytest.mark.parametrize(
    ("abilities", "found"),
    [(Abilities(), "sx"), (Abilities(False, False), "xx"), (Abilities(True, True), "ss"), (Abilities(False), "xx")],
)
def test_unknown_models_are_tried_with_pictures_and_not_with_sounds(abilities: Abilities, found: str) -> None:
    assert letters([ref(1), ref(2, mime="audio/wav")], abilities) == found


def test_the_oldest_are_left_out_and_half_of_the_budget_is_free_again() -> None:
    refs = [ref(number) for number in range(12)]
    budget = MediaBudget(most=4)
    assert [letters(refs[:count], budget=budget) for count in (4, 5, 6, 7)] == ["ssss", "oooss", "ooosss", "ooossss"]
    assert letters(refs[:8], budget=budget) == "oooooo" + "ss"


def test_bytes_count_too_and_what_is_too_large_alone_takes_nobodys_room() -> None:
    budget = MediaBudget(each_bytes=50, all_bytes=100)
    assert letters([ref(1, 40), ref(2, 51), ref(3, 40), ref(4, 20)], budget=budget) == "slss"
    assert letters([ref(1, 40), ref(3, 40), ref(4, 30)], budget=budget) == "oos"
    assert letters([ref(1), ref(2)], budget=MediaBudget(most=0)) == "ll"
    assert letters([ref(1), ref(2)], budget=MediaBudget(most=1)) == "os"


@given(st.lists(st.integers(1, 60), max_size=60), st.integers(1, 8))
def test_whatever_comes_the_budget_holds_the_newest_is_shown_and_most_pictures_move_nothing(
    sizes: list[int], most: int
) -> None:
    refs = [ref(number, size) for number, size in enumerate(sizes)]
    budget, moved, before = MediaBudget(most, 50, 200), 0, ""
    for count in range(1, len(refs) + 1):
        now = letters(refs[:count], budget=budget)
        shown = [one.size for one, letter in zip(refs, now, strict=False) if letter == "s"]
        assert len(shown) <= most and sum(shown) <= 200
        assert now[-1] == ("s" if sizes[count - 1] <= 50 else "l")
        moved += not now.startswith(before)
        before = now
    assert moved <= len(refs) // max(1, min(most - max(1, most // 2), 2)) + 1


def test_the_same_picture_twice_counts_once() -> None:
    assert chosen([ref(1), ref(2), ref(1)], SIGHT, lambda one: "", MediaBudget()).keys() == {ref(1), ref(2)}


def test_a_model_that_never_took_a_picture_gets_none_after_a_refusal() -> None:
    refusals = Refusals()
    assert refusals.refused("m", frozenset({ref(1)}))
    assert refusals.of("m")(ref(2)) == "x" and refusals.of("other")(ref(2)) == ""
    assert refusals.of("m")(ref(3, mime="audio/wav")) == ""


def test_of_a_model_that_took_some_the_new_ones_alone_are_left_out() -> None:
    refusals = Refusals()
    refusals.accepted("m", frozenset({ref(1)}))
    assert refusals.refused("m", frozenset({ref(1), ref(2)}))
    assert [refusals.of("m")(ref(number)) for number in (1, 2, 3)] == ["", "r", ""]


def test_a_refusal_without_pictures_shows_that_the_one_before_was_not_about_them() -> None:
    refusals = Refusals()
    assert refusals.refused("m", frozenset({ref(1)}))
    assert not refusals.refused("m", frozenset())
    assert refusals.of("m")(ref(1)) == ""
    assert refusals.refused("m", frozenset({ref(1)}))
    refusals.accepted("m", frozenset())
    assert not refusals.refused("m", frozenset())
    assert refusals.of("m")(ref(1)) == "x"


async def test_bytes_are_read_once_and_what_is_gone_is_named() -> None:
    reads: list[MediaRef] = []

    async def read(one: MediaRef) -> bytes | None:
        reads.append(one)
        await asyncio.sleep(0)
        return b"bytes" if one.source == "result-1" else None

    media = Media(KeptMedia(read), lambda model: SIGHT)
    seen = ChatMessage("tool", "two", call_id="c", name="look", parts=("<a>", ref(1), ref(2), "</a>"))
    prompt = ask(seen, past=(PastTurn("turn-0", (ChatMessage("user", "Hello"),)),)).prompt
    first, second = await media.shown_in(prompt, "m"), await media.shown_in(prompt, "m")
    assert first == second and first.signature == "sg" and first.data == {ref(1): b"Ynl0ZXM="}
    assert reads == [ref(1), ref(2), ref(2)]
    assert first.words(ref(2), 2) == "[image 2, image/png, 100 B: it is no longer kept]"


async def test_a_prompt_of_text_asks_for_nothing() -> None:
    async def read(one: MediaRef) -> bytes | None:
        raise AssertionError

    assert await Media(KeptMedia(read), lambda model: SIGHT).shown_in(ask("Hello").prompt, "m") == RequestMedia()


@pytest.mark.parametrize(
    ("data", "mime"),
    [
        (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + b"\0" * 99 + b"IEND\xaeB`\x82", "image/png"),
        (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + b"\0" * 99, ""),  # cut off
        (b"\xff\xd8\xff\xe0" + b"\0" * 99, "image/jpeg"),
        (b"GIF89a" + b"\0" * 99, "image/gif"),
        (b"RIFF\0\0\0\0WEBPVP8 ", "image/webp"),
        (b"RIFF\0\0\0\0WAVEfmt ", "audio/wav"),
        (b"RIFF\0\0\0\0AVI LIST", ""),
        (b"ID3\x04" + b"\0" * 99, "audio/mpeg"),
        (b"<svg/>", ""),
        (b"", ""),
    ],
)
def test_a_type_is_known_by_its_bytes(data: bytes, mime: str) -> None:
    assert true_mime(data[:48], data[-48:]) == mime
