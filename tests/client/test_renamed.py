"""Names of the first edition go on working; each says once what it is called now."""

import warnings
from collections.abc import Callable

import pytest

from windlass.client import Windlass
from windlass.client.renamed import renamed
from windlass.client.resources import ConversationsResource, ServersResource, TurnsResource

FIRST_EDITION = {
    "settle": (Windlass.settle, Windlass.wait),
    "conversations.take_in": (ConversationsResource.take_in, ConversationsResource.import_),
    "servers.take_in": (ServersResource.take_in, ServersResource.import_),
    "turns.go_on": (TurnsResource.go_on, TurnsResource.continue_),
}


@pytest.mark.parametrize("name", FIRST_EDITION)
def test_an_old_name_is_its_successor(name: str) -> None:
    old, new = FIRST_EDITION[name]
    assert getattr(old, "__wrapped__", None) is new


def test_an_old_name_warns_once_and_names_its_successor() -> None:
    def import_(count: int) -> int:
        return count + 1

    take_in: Callable[[int], int] = renamed("take_in", import_)
    with pytest.warns(DeprecationWarning, match="take_in is now called import_"):
        assert take_in(1) == 2
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert take_in(2) == 3
