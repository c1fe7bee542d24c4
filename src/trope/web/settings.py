"""How the page is served, and what a client may use of it."""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass

from trope.errors import UsageError

LOCAL = ("localhost", "127.0.0.1", "[::1]")


@dataclass(frozen=True)
class ServeSettings:
    """Limits of the server; a `rate` of 0 is none.

    `rate` is how many searches a second one address may ask for in the long run, `burst` how many
    at once. `body` are the bytes that a request with a picture may bring, `json` any other, `held`
    all pictures at one time; `seconds` the time a request may take in all, `idle` the time that a
    client may take for its next line, or for reading what it was sent. There may be so many
    `connections`, and of `each` address so many.
    """

    host: str = "127.0.0.1"
    port: int = 8600
    token: str = ""
    hosts: tuple[str, ...] = ()
    rate: float = 50.0
    burst: float = 500.0
    body: int = 21 * 2**20
    json: int = 64 * 2**10
    held: int = 128 * 2**20
    seconds: float = 60.0
    idle: float = 15.0
    connections: int = 512
    each: int = 64
    stopping: float = 10.0

    def __post_init__(self) -> None:
        if not 0 <= self.port <= 65_535:
            raise UsageError(f"serve: port {self.port} is not between 0 and 65535")
        if self.token and not 8 <= len(self.token) <= 1_000:  # as much as the form takes
            raise UsageError("serve: a token needs at least 8 characters, and at most 1,000")
        if not self.token.isascii() or not self.token.isprintable() or " " in self.token:
            raise UsageError("serve: a token has letters, digits and signs of ASCII, no spaces")

    @property
    def local(self) -> bool:
        """Whether only this machine can reach it."""
        found = _address(self.host)
        return self.host.lower() == "localhost" or (found is not None and found.is_loopback)

    @property
    def everywhere(self) -> bool:
        """Whether it listens on all addresses of this machine."""
        found = _address(self.host)
        return found is not None and found.is_unspecified

    @property
    def allowed(self) -> frozenset[str]:
        """The names under which the page may be asked for, so that no other can be bound to it."""
        given = f"[{self.host}]" if ":" in self.host else self.host
        names = {name.lower().rstrip(".") for name in (*self.hosts, given)}
        return frozenset({*LOCAL, *names} - {"0.0.0.0", "[::]"})

    def answers(self, host: str) -> bool:
        """Whether it answers under a name: all addresses are its own where it listens on all."""
        if host in self.allowed or not self.everywhere:
            return host in self.allowed
        found = _address(host.removeprefix("[").removesuffix("]"))
        return found is not None and not found.is_unspecified

    @property
    def url(self) -> str:
        """Where to open the page."""
        host = "127.0.0.1" if self.everywhere else self.host
        return f"http://{f'[{host}]' if ':' in host else host}:{self.port}/"


def _address(text: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        return ipaddress.ip_address(text)
    except ValueError:
        return None
