"""Whether two addresses lead to the same server."""

import pytest

from windlass.services.origins import same_origin


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("https://models.example/v1", "https://models.example/v2/"),
        ("https://models.example", "HTTPS://Models.Example:443/v1?x=1#y"),
        ("http://models.example:80", "http://models.example./v1"),
        ("http://bücher.example/v1", "http://xn--bcher-kva.example"),
        ("http://[::1]:9/v1", "http://[0:0:0:0:0:0:0:1]:9"),
        (" http://models.example ", "http://models.example"),
    ],
)
def test_f2_one_server_in_two_spellings(one: str, other: str) -> None:
    assert same_origin(one, other) and same_origin(other, one)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("https://models.example/v1", "http://models.example/v1"),
        ("https://models.example/v1", "https://models.example:8443/v1"),
        ("https://models.example/v1", "https://models.example.evil.example/v1"),
        ("https://models.example/v1", "https://models.example@evil.example/v1"),
        ("http://127.0.0.1:9", "http://localhost:9"),
        ("http://bücher.example", "http://bucher.example"),
        ("http://a:99999", "http://a:99999"),
        ("", "http://models.example"),
        ("", ""),
    ],
)
def test_f2_two_servers_or_none(one: str, other: str) -> None:
    assert not same_origin(one, other) and not same_origin(other, one)
