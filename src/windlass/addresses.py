"""Which addresses are the public internet. Pure."""

from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address

Address = IPv4Address | IPv6Address

METADATA = frozenset(
    map(ip_address, ("169.254.169.254", "168.63.129.16", "100.100.100.200", "192.0.0.192", "fd00:ec2::254"))
)
_NAT64 = IPv6Network("64:ff9b::/96")
_NOT_PUBLIC_V4 = tuple(
    map(
        IPv4Network,
        (
            *("0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12"),
            *("192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24", "192.168.0.0/16", "198.18.0.0/15"),
            *("198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4"),
        ),
    )
)
_GLOBAL_UNICAST = IPv6Network("2000::/3")
# 2001::/23 holds Teredo and other protocol assignments, 2002::/16 is 6to4: both carry an IPv4 address to go to.
_NOT_PUBLIC_V6 = tuple(map(IPv6Network, ("2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20")))


def is_public(address: Address) -> bool:
    """Everything that is not plainly public is refused. `ipaddress.is_global` alone is not enough: older Pythons call
    192.0.0.192 (a cloud's metadata) and all multicast global, and it does not look inside addresses that carry another.
    """
    inner = unwrapped(address)
    if inner in METADATA or not inner.is_global:
        return False
    if isinstance(inner, IPv4Address):
        return not any(inner in network for network in _NOT_PUBLIC_V4)
    return inner in _GLOBAL_UNICAST and not any(inner in n for n in _NOT_PUBLIC_V6) and not _is_isatap(inner)


def is_metadata(address: Address) -> bool:
    return unwrapped(address) in METADATA


def unwrapped(address: Address) -> Address:
    """The address a packet would really go to: IPv4-mapped and NAT64 ones carry an IPv4 address."""
    if isinstance(address, IPv4Address):
        return address
    if address.ipv4_mapped:
        return address.ipv4_mapped
    return IPv4Address(int(address) & 0xFFFF_FFFF) if address in _NAT64 else address


def _is_isatap(address: IPv6Address) -> bool:
    return (int(address) >> 32) & 0xFDFF_FFFF == 0x5EFE
