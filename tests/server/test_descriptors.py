"""File descriptors: the broker keeps some for its clients' work, and lives without any."""

import os
import resource
import socket
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
from attacks.bystander import cpu_s
from server.peer import Peer
from server.process import Samsa, a_samsa
from server.talk import create, read, records_in, values, versions, write
from support import broker
from support.waiting import eventually

FILES = 200
ELSEWHERE = "127.0.0.2"


@pytest.fixture
def few_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is started may open few files."""
    script = tmp_path / "samsa-with-few-files"
    script.write_text(f'#!/bin/sh\nulimit -n {FILES}\nexec "{broker.SAMSA}" "$@"\n')
    script.chmod(0o755)
    monkeypatch.setattr(broker, "SAMSA", script)


def answers(samsa: Samsa, host: str) -> bool:
    """Whether a client of this address is welcome."""
    with Peer(samsa.address, host=host) as peer:
        try:
            return bool(versions(peer))
        except (EOFError, OSError):
            return False


def test_connections_leave_descriptors_for_the_work_and_for_other_addresses(
    tmp_path: Path, few_files: None
) -> None:
    with a_samsa(tmp_path, "--metrics-port", "0") as samsa, samsa.peer() as peer:
        create(peer, "wide", partitions=60)
        crowd = [socket.create_connection(samsa.address) for _ in range(2 * FILES)]
        assert eventually(lambda: samsa.metrics()["samsa_connections"] >= FILES * 3 // 8)
        for number in range(60):
            assert write(peer, "wide", b"%d" % number, partition=number) == 0
            found = read(peer, "wide", 0, partitions=[number])
            assert values(records_in(found.records)) == [b"%d" % number]
        assert answers(samsa, ELSEWHERE)
        assert not answers(samsa, "127.0.0.1")
        for sock in crowd:
            sock.close()
        assert eventually(lambda: answers(samsa, "127.0.0.1"))
        assert "cannot accept" not in "\n".join(samsa.logged())
        refused = [line for line in samsa.logged() if "too many connections" in line]
        assert len(refused) == 1


@contextmanager
def without_descriptors(samsa: Samsa) -> Iterator[None]:
    before = resource.prlimit(samsa.pid, resource.RLIMIT_NOFILE)
    most = max(int(name) for name in os.listdir(f"/proc/{samsa.pid}/fd")) + 1
    resource.prlimit(samsa.pid, resource.RLIMIT_NOFILE, (most, before[1]))
    try:
        yield
    finally:
        resource.prlimit(samsa.pid, resource.RLIMIT_NOFILE, before)


def test_without_any_left_it_waits_says_so_once_and_goes_on(tmp_path: Path) -> None:
    with a_samsa(tmp_path) as samsa, samsa.peer() as peer:
        create(peer, "t")
        assert write(peer, "t", b"0") == 0
        with without_descriptors(samsa):
            waiting = [samsa.peer() for _ in range(50)]
            assert eventually(lambda: "cannot accept" in "\n".join(samsa.logged()))
            before = cpu_s(samsa.pid)
            for number in range(1, 500):
                assert write(peer, "t", b"x") == number
            used = cpu_s(samsa.pid) - before
            assert len([line for line in samsa.logged() if "cannot accept" in line]) == 1
        for one in waiting:
            with closing(one):
                assert versions(one)
        assert used < 1.0
