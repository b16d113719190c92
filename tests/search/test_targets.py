from ipaddress import IPv4Address, IPv6Address, ip_address

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from windlass.addresses import is_metadata, is_public, unwrapped


@pytest.mark.parametrize(
    "address", ["1.1.1.1", "8.8.8.8", "93.184.215.14", "2606:4700::1111", "2a00:1450::1", "64:ff9b::808:808"]
)
def test_addresses_of_the_internet_are_public(address: str) -> None:
    assert is_public(ip_address(address))


@given(st.ip_addresses(v=4))
@example(IPv4Address("192.0.0.192"))
@example(IPv4Address("224.0.0.1"))
def test_an_address_inside_another_is_as_public_as_it_is_alone(inner: IPv4Address) -> None:
    mapped = IPv6Address(0xFFFF << 32 | int(inner))
    nat64 = IPv6Address((0x64FF9B << 96) | int(inner))
    assert unwrapped(mapped) == unwrapped(nat64) == inner
    assert is_public(mapped) == is_public(nat64) == is_public(inner)


@given(st.ip_addresses(v=4))
def test_tunnel_addresses_are_never_public(inner: IPv4Address) -> None:
    six_to_four = IPv6Address(0x2002 << 112 | int(inner) << 80 | 1)
    teredo = IPv6Address(0x2001 << 112 | (int(inner) ^ 0xFFFF_FFFF))
    isatap = IPv6Address(0x2A00 << 112 | 0x5EFE << 32 | int(inner))
    assert not is_public(six_to_four) and not is_public(teredo) and not is_public(isatap)


@given(st.ip_addresses())
def test_nothing_the_standard_library_calls_local_is_public(address: IPv4Address | IPv6Address) -> None:
    if address.is_private or address.is_loopback or address.is_link_local or address.is_multicast:
        mapped = isinstance(address, IPv6Address) and unwrapped(address) != address
        assert mapped or not is_public(address)


@pytest.mark.parametrize(
    "address", ["169.254.169.254", "::ffff:169.254.169.254", "64:ff9b::a9fe:a9fe", "168.63.129.16"]
)
def test_metadata_services_are_known_in_every_dress(address: str) -> None:
    assert is_metadata(ip_address(address)) and not is_public(ip_address(address))
