"""Which network addresses belong to the public internet; it connects to none."""

from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address

_NAT64 = (IPv6Network("64:ff9b::/96"), IPv6Network("64:ff9b:1::/48"))
_IPV4_COMPATIBLE = IPv6Network("::/96")


def is_public(address: str) -> bool:
    """Whether a numeric address is one of the public internet.

    Loopback, private and link-local networks (where clouds keep the secrets of their machines), multicast and reserved
    ones are not, nor are IPv6 addresses that carry such an IPv4 address or tunnel to one.
    """
    found = ip_address(address.partition("%")[0])
    if isinstance(found, IPv4Address):
        return _is_public_v4(found)
    if found.ipv4_mapped is not None:
        return _is_public_v4(found.ipv4_mapped)
    if any(found in network for network in _NAT64):
        return _is_public_v4(IPv4Address(int(found) & 0xFFFFFFFF))
    return _is_public_v6(found)


def _is_public_v4(address: IPv4Address) -> bool:
    return address.is_global and not (address.is_multicast or address.is_reserved or address.is_unspecified)


def _is_public_v6(address: IPv6Address) -> bool:
    tunnelled = address.sixtofour is not None or address.teredo is not None or address in _IPV4_COMPATIBLE
    special = address.is_multicast or address.is_reserved or address.is_site_local
    return address.is_global and not (tunnelled or special)
