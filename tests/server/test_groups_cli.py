"""samsa groups: list, describe, reset-offsets, delete."""

from collections.abc import Callable

import pytest
from server.members import alone, commit, committed
from server.peer import Peer
from server.process import Samsa
from server.talk import NOW, create, write
from server.test_cli import Shell

Connect = Callable[[], Peer]


@pytest.fixture
def shell(samsa: Samsa) -> Shell:
    return Shell(samsa)


def assignment(topic: str, *partitions: int) -> bytes:
    """As a leader writes it, in version 0 of the embedded protocol."""
    numbers = b"".join(n.to_bytes(4, "big") for n in partitions)
    name = len(topic).to_bytes(2, "big") + topic.encode()
    count = len(partitions).to_bytes(4, "big")
    return b"\0\0" + (1).to_bytes(4, "big") + name + count + numbers + b"\xff\xff\xff\xff"


def fields(line: str) -> list[str]:
    return line.strip().split("\t")


def test_lag_is_shown_per_partition_and_who_reads_it(connect: Connect, shell: Shell, new_name: str):
    peer = connect()
    create(peer, new_name, partitions=2)
    write(peer, new_name, b"a", b"b", b"c")
    member = alone(connect(), new_name)
    member.join()
    member.sync(lambda _: assignment(new_name, 0, 1))
    member.commit(new_name, 1)
    head, first, second = shell("groups", "describe", new_name).splitlines()
    assert fields(head) == [new_name, "Stable", "classic", "1 member(s)"]
    reader = f"{member.member_id} at /127.0.0.1"
    assert fields(first) == [new_name, "partition 0", "offset 1", "end 3", "lag 2", reader]
    assert fields(second) == [new_name, "partition 1", "offset -", "end 0", "lag -", reader]


def test_groups_are_listed_and_deleted(peer: Peer, shell: Shell, topic: str, new_name: str):
    commit(peer, new_name, {(topic, 0): 0})
    assert f"{new_name}\tEmpty\tclassic\n" in shell("groups", "list")
    assert shell("groups", "delete", new_name) == f"deleted {new_name}\n"
    assert new_name not in shell("groups", "list")
    assert "group id not found" in shell.fails("groups", "delete", new_name)
    assert "not found" in shell.fails("groups", "describe", new_name)


@pytest.fixture
def group(peer: Peer, new_name: str) -> str:
    """Ten records in each of two partitions, a second apart; half of them read."""
    create(peer, new_name, partitions=2)
    for partition in (0, 1):
        for n in range(10):
            write(peer, new_name, b"x", partition=partition, timestamp=NOW + 1000 * n)
    commit(peer, new_name, {(new_name, 0): 5, (new_name, 1): 5})
    return new_name


@pytest.mark.parametrize(
    ("how", "offsets"),
    [
        (("--to-earliest",), [0, 0]),
        (("--to-latest",), [10, 10]),
        (("--to-offset", "7"), [7, 7]),
        (("--to-offset", "70"), [10, 10]),
        (("--shift-by", "-2"), [3, 3]),
        (("--shift-by", "-20"), [0, 0]),
        (("--shift-by", "4"), [9, 9]),
    ],
)
def test_offsets_are_reset_only_when_told_to(
    peer: Peer, shell: Shell, group: str, how: tuple[str, ...], offsets: list[int]
):
    command = ("groups", "reset-offsets", group, "--topic", group, *how)
    told = shell(*command)
    assert "nothing has changed" in told
    assert list(committed(peer, group).values()) == [5, 5]
    assert f"{group}\tpartition 0\tfrom 5\tto {offsets[0]}\n" in told
    shell(*command, "--execute")
    assert list(committed(peer, group).values()) == offsets


def test_offsets_are_reset_to_a_time(peer: Peer, shell: Shell, group: str):
    from datetime import UTC, datetime

    when = datetime.fromtimestamp((NOW + 6_500) / 1000, UTC).isoformat()
    shell("groups", "reset-offsets", group, "--all-topics", "--to-datetime", when, "--execute")
    assert list(committed(peer, group).values()) == [7, 7]


def test_some_partitions_are_reset_and_the_others_stay(peer: Peer, shell: Shell, group: str):
    named = f"{group}:1"
    shell("groups", "reset-offsets", group, "--topic", named, "--to-earliest", "--execute")
    assert list(committed(peer, group).values()) == [5, 0]


def test_a_group_in_use_is_not_reset(connect: Connect, shell: Shell, group: str):
    alone(connect(), group)
    command = ("groups", "reset-offsets", group, "--topic", group, "--to-earliest", "--execute")
    assert "has members" in shell.fails(*command)
