import itertools
from collections.abc import Callable, Iterator

import pytest
from server.neighbour import Neighbour
from server.peer import Peer
from server.process import Samsa, a_samsa
from server.talk import create

names = itertools.count()


@pytest.fixture(scope="session")
def samsa(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Samsa]:
    """One broker for every test that leaves it as it was."""
    with a_samsa(tmp_path_factory.mktemp("samsa"), "--metrics-port", "0") as running:
        yield running


@pytest.fixture
def connect(samsa: Samsa) -> Iterator[Callable[[], Peer]]:
    opened: list[Peer] = []

    def open_one() -> Peer:
        opened.append(samsa.peer())
        return opened[-1]

    yield open_one
    for peer in opened:
        peer.close()


@pytest.fixture
def peer(connect: Callable[[], Peer]) -> Peer:
    return connect()


@pytest.fixture
def new_name() -> str:
    return f"topic-{next(names)}"


@pytest.fixture
def topic(samsa: Samsa, new_name: str) -> str:
    """A topic with one partition that nobody has written to."""
    with samsa.peer() as maker:
        create(maker, new_name)
    return new_name


@pytest.fixture
def neighbour(samsa: Samsa) -> Iterator[Neighbour]:
    """Someone who uses the broker all through the test, and still does after it."""
    running = Neighbour(samsa.address, f"neighbour-{next(names)}")
    running.goes_on()
    yield running
    running.stop()
