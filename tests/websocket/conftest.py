from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from server.peer import Peer
from support.fake_gateway import FakeGateway, a_gateway

from samsa_websocket.shim import Dialer, dial


@pytest.fixture
def gateway(tmp_path: Path) -> Iterator[FakeGateway]:
    with a_gateway(tmp_path) as running:
        yield running


@pytest.fixture
def dialled(gateway: FakeGateway) -> Iterator[Callable[..., str]]:
    """Dials the gateway with the given settings; gives the bootstrap address."""
    opened: list[Dialer] = []

    def open_one(**settings: Any) -> str:
        opened.append(dial(gateway.url, sign=False, **settings))
        return opened[-1].bootstrap

    yield open_one
    for dialer in opened:
        dialer.close()


@pytest.fixture
def connect(dialled: Callable[..., str]) -> Iterator[Callable[..., Peer]]:
    """A raw client through a shim of its own."""
    peers: list[Peer] = []

    def connect_one(**settings: Any) -> Peer:
        host, _, port = dialled(**settings).rpartition(":")
        peers.append(Peer((host, int(port))))
        return peers[-1]

    yield connect_one
    for peer in peers:
        peer.close()
