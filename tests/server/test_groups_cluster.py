"""Several processes on one store are one coordinator, whichever of them is alive."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from select import select

import pytest
from server.members import Member, alone, committed
from server.process import Samsa, a_samsa
from server.talk import FETCH, create, fetch_row

from samsa.coordinator.coordinator import LONGEST_WAIT_MS
from samsa.wire.apis import ApiKey
from samsa.wire.errors import ErrorCode

Pair = tuple[Samsa, Samsa]


def pair_in(folder: Path) -> Pair:
    one = Samsa(folder / "one")
    return one, Samsa(folder / "two", "--data", str(folder / "one" / "data"))


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pair]:
    folder = tmp_path_factory.mktemp("groups")
    with (
        a_samsa(folder / "one") as one,
        a_samsa(folder / "two", "--data", str(folder / "one" / "data")) as two,
    ):
        yield one, two


@pytest.fixture
def mortal(tmp_path: Path) -> Iterator[Pair]:
    """Two processes that a test may kill."""
    both = pair_in(tmp_path)
    yield both
    for samsa in both:
        if samsa.process.poll() is None:
            samsa.kill()


def test_members_at_two_processes_form_one_group(pair: Pair, new_name: str):
    with pair[0].peer() as here, pair[1].peer() as there:
        create(here, new_name)
        first, second = alone(here, new_name), Member(there, new_name)
        second.ask_to_join(first)
        first.join()
        second.hear_join()
        assert first.generation == second.generation == 2
        second.send_sync()
        first.sync(lambda member: member.encode())
        assert bytes(second.peer.answer().assignment) == second.member_id.encode()
        assert second.commit(new_name, 5) == ErrorCode.NONE
        assert committed(here, new_name) == {(new_name, 0): 5}
        second.leave()
        assert first.heartbeat() == ErrorCode.REBALANCE_IN_PROGRESS


@contextmanager
def before_it_looks_by_itself(samsa: Samsa, topic: str) -> Iterator[None]:
    """A fetch waits at this process, for less than a parked request does before its own next look.
    What is woken by a datagram is answered before the fetch is, on a slow machine too."""
    with samsa.peer() as waiting:
        waiting.send(ApiKey.FETCH, FETCH, fetch_row(topic, 0, wait_ms=LONGEST_WAIT_MS - 1_000))
        yield
        readable, _, _ = select([waiting.socket], [], [], 0)
        assert not readable, "woken by its own look"


def test_a_join_that_is_parked_here_is_woken_from_there(pair: Pair, new_name: str):
    with pair[0].peer() as here, pair[1].peer() as there:
        create(here, new_name)
        first, second = alone(here, new_name), Member(there, new_name)
        second.ask_to_join(first)
        time.sleep(0.3)
        with before_it_looks_by_itself(pair[1], new_name):
            first.join()
            second.hear_join()


def test_a_parked_sync_is_woken_from_there_too(pair: Pair, new_name: str):
    with pair[0].peer() as here, pair[1].peer() as there:
        create(here, new_name)
        first, second = alone(here, new_name), Member(there, new_name)
        second.ask_to_join(first)
        first.join()
        second.hear_join()
        second.send_sync()
        time.sleep(0.3)
        with before_it_looks_by_itself(pair[1], new_name):
            first.sync(lambda _: b"assigned")
            assert bytes(second.peer.answer().assignment) == b"assigned"


def test_an_old_generation_cannot_commit_at_another_process(pair: Pair, new_name: str):
    with pair[0].peer() as here, pair[1].peer() as there:
        create(here, new_name)
        first = alone(here, new_name)
        first.commit(new_name, 5)
        first.leave()
        second = alone(there, new_name)
        second.commit(new_name, 9)
        assert first.commit(new_name, 6) == ErrorCode.UNKNOWN_MEMBER_ID
        assert committed(here, new_name) == {(new_name, 0): 9}


def test_a_parked_join_survives_the_death_of_the_other_process(mortal: Pair):
    one, two = mortal
    with one.peer() as here, two.peer() as there, two.peer() as moved:
        first, second = alone(here, "family"), Member(there, "family")
        second.ask_to_join(first)
        one.kill()
        first.peer = moved
        first.join()
        second.hear_join()
        assert first.generation == second.generation == 2
        assert len(first.joined.members) == 2


def test_a_group_goes_on_where_it_was_when_its_process_comes_back(mortal: Pair):
    one, two = mortal
    two.kill()
    with one.peer() as before:
        create(before, "letters")
        member = alone(before, "family")
        member.commit("letters", 7)
        one.kill()
    one.again()
    with one.peer() as after:
        member.peer = after
        assert member.heartbeat() == ErrorCode.NONE
        assert bytes(member.sync().assignment) == b"everything"
        assert committed(after, "family") == {("letters", 0): 7}


def test_a_process_killed_with_a_parked_join_leaves_a_group_that_can_go_on(mortal: Pair):
    one, two = mortal
    with one.peer() as here, two.peer() as there:
        first, second = alone(here, "family"), Member(there, "family")
        second.ask_to_join(first)
        two.kill()
        with one.peer() as again:
            second.peer = again
            second.send_join()
            first.join()
            second.hear_join()
            assert first.generation == second.generation == 2
            assert len(first.joined.members) == 2
