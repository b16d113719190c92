"""Web search, tried by hand."""

from typing import Annotated

from msgspec import Meta

from windlass.api.schemas.base import Request, Response


class SearchTest(Request):
    query: Annotated[
        str, Meta(min_length=1, max_length=1000, pattern=r"\S", examples=["weather in Nanaimo"], description="What for")
    ]


class SearchHit(Response):
    title: str
    url: str


class SearchTrial(Response):
    backend: Annotated[str, Meta(examples=["brave"])]
    works: bool
    told: Annotated[str, Meta(description="How many results in what time, or why there are none")]
    hits: list[SearchHit]


class SearchTrials(Response):
    trials: Annotated[list[SearchTrial], Meta(description="In the order in which they are asked; empty: search is off")]
    count: int
    success: bool = True
