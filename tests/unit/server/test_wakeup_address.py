"""Which address a process that listens on all of them registers for wake-ups."""

import logging
import socket
from ipaddress import ip_address

import pytest

from samsa.local.wakeups import LocalWakeups
from samsa_broker.server import wakeup_address
from samsa_broker.server.wakeup_address import hear_others, reachable_address

OWN = {"10.1.2.3", "10.4.5.6", "fd00::7", "127.0.0.1", "127.0.0.2", "::1"}
NAMES = {
    "me.example": ["10.4.5.6"],
    "balancer.example": ["10.9.9.9"],
    "both.example": ["fd00::7", "10.4.5.6"],
    "loop.example": ["127.0.0.1"],
}


class Machine:
    """Stands for the socket module: the addresses are OWN, and the default route leads out by
    those of `routes`."""

    AF_INET, AF_INET6, SOCK_DGRAM = socket.AF_INET, socket.AF_INET6, socket.SOCK_DGRAM

    def __init__(self) -> None:
        self.routes: dict[int, str] = {}

    def socket(self, family: int, kind: int) -> "Probe":
        return Probe(self.routes, family)

    def getaddrinfo(self, host: str, port: None, type: int) -> list:  # noqa: A002
        if host not in NAMES:
            raise socket.gaierror("no such host")
        return [(0, 0, 0, "", (address, 0)) for address in NAMES[host]]


class Probe:
    def __init__(self, routes: dict[int, str], family: int) -> None:
        self.routes = routes
        self.family = family

    def __enter__(self) -> "Probe":
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def connect(self, place: tuple[str, int]) -> None:
        if self.family not in self.routes:
            raise OSError("no route")

    def getsockname(self) -> tuple[str, int]:
        return self.routes[self.family], 0

    def bind(self, place: tuple[str, int]) -> None:
        if place[0] not in OWN:
            raise OSError("not ours")


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch) -> Machine:
    machine = Machine()
    monkeypatch.setattr(wakeup_address, "socket", machine)
    return machine


V4, V6 = socket.AF_INET, socket.AF_INET6


@pytest.mark.parametrize(
    ("host", "advertised", "routed", "expected"),
    [
        ("0.0.0.0", None, {V4: "10.1.2.3"}, "10.1.2.3"),
        ("0.0.0.0", "me.example", {V4: "10.1.2.3"}, "10.4.5.6"),
        ("0.0.0.0", "balancer.example", {V4: "10.1.2.3"}, "10.1.2.3"),
        ("0.0.0.0", "nowhere.example", {V4: "10.1.2.3"}, "10.1.2.3"),
        ("0.0.0.0", "loop.example", {V4: "10.1.2.3"}, "10.1.2.3"),
        ("0.0.0.0", "both.example", {}, "10.4.5.6"),
        ("0.0.0.0", None, {V6: "fd00::7"}, "127.0.0.1"),
        ("0.0.0.0", None, {V4: "169.254.1.1"}, "127.0.0.1"),
        ("::", None, {V4: "10.1.2.3", V6: "fd00::7"}, "10.1.2.3"),
        ("::", None, {V6: "fd00::7"}, "fd00::7"),
        ("::", "both.example", {}, "fd00::7"),
        ("::", None, {V6: "fe80::1"}, "::1"),
        ("::", None, {}, "::1"),
    ],
)
def test_others_are_told_an_address_that_they_can_reach(
    machine, host: str, advertised: str | None, routed: dict[int, str], expected: str
):
    machine.routes = routed
    assert reachable_address(host, advertised) == expected


@pytest.mark.parametrize("host", ["0.0.0.0", "::"])
def test_this_machines_own_address_is_never_the_unspecified_one(host: str):
    assert not ip_address(reachable_address(host, None)).is_unspecified


class Listening(LocalWakeups):
    """Listens nowhere: a test opens no port to the network."""

    async def listen(self, host, port=0, *, reached_at=None, secret=b""):
        self.address = f"{reached_at or host}|{port}|{secret.hex()}"


@pytest.mark.parametrize(
    ("host", "routed", "told", "remote_ledger", "expected", "warned"),
    [
        ("0.0.0.0", {V4: "10.1.2.3"}, None, True, "10.1.2.3", False),
        ("0.0.0.0", {}, None, False, "127.0.0.1", True),
        ("0.0.0.0", {}, ("me.example", 9), True, "10.4.5.6", False),
        ("127.0.0.1", {}, None, False, "127.0.0.1", False),
        ("127.0.0.1", {}, None, True, "127.0.0.1", True),
        ("10.4.5.6", {V4: "10.1.2.3"}, None, True, "10.4.5.6", False),
    ],
)
async def test_a_process_that_others_cannot_wake_says_so_once(
    machine, caplog, host, routed, told, remote_ledger, expected, warned
):
    machine.routes = routed
    wakeups = Listening()
    with caplog.at_level(logging.INFO):
        await hear_others(wakeups, host, told, None, remote_ledger=remote_ledger)
    address, port, secret = wakeups.address.split("|")
    assert (address, int(port)) == (expected, told[1] if told else 0)
    assert len(bytes.fromhex(secret)) == wakeup_address.SECRET_BYTES
    said = [record.getMessage() for record in caplog.records]
    assert said == (["other machines cannot wake this process"] if warned else [])


async def test_an_address_for_wakeups_that_does_not_exist_ends_the_start(machine):
    with pytest.raises(OSError, match="no such host"):
        await hear_others(Listening(), "0.0.0.0", ("nowhere.example", 0), None, remote_ledger=False)
