"""A disk that is full under a real broker: the log says so, clients are told, and it goes on."""

import os
import resource
import subprocess
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from server.administer import delete_before
from server.process import Samsa, a_samsa
from server.talk import append, batch, create, end_of, everything, values, write
from server.test_starting import refused
from support.waiting import eventually

from samsa.wire.errors import ErrorCode

SIZE = 32 * 1024 * 1024
PIECE = 500_000
MOST = SIZE // PIECE
TO_THE_END = -1


def told(samsa: Samsa, what: str) -> list[str]:
    return [line for line in samsa.logged() if f"{what} folder=" in line]


@pytest.mark.parametrize("options", [(), ("--fsync",)], ids=["", "fsync"])
def test_a_file_that_may_not_grow_is_one_line_in_the_log_and_a_storage_error(
    options: tuple[str, ...], tmp_path: Path
) -> None:
    """A limit on the size of files is a disk that refuses, on any machine."""
    options = ("--metrics-port", "0", *options)
    with a_samsa(tmp_path, *options) as samsa, samsa.peer() as peer:
        create(peer, "t")
        write(peer, "t", b"before")
        before = resource.prlimit(samsa.pid, resource.RLIMIT_FSIZE)
        resource.prlimit(samsa.pid, resource.RLIMIT_FSIZE, (100_000, before[1]))
        for _ in range(5):
            answer = append(peer, "t", batch(b"x" * PIECE))
            assert (answer.error_code, answer.base_offset) == (ErrorCode.KAFKA_STORAGE_ERROR, -1)
        assert len(told(samsa, "ERROR   a file may not grow")) == 1
        folder = f'folder="{samsa.data}"'
        metrics = samsa.metrics()
        assert metrics[f"samsa_disk_failures_total{{{folder}}}"] == 5
        assert metrics[f'samsa_disk_failing{{{folder},why="limited"}}'] == 1
        resource.prlimit(samsa.pid, resource.RLIMIT_FSIZE, before)
        assert eventually(lambda: write(peer, "t", b"after") and told(samsa, "takes writes again"))
        assert values(everything(peer, "t"))[:2] == [b"before", b"after"]
        assert len(told(samsa, "takes writes again")) == 1


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", f"size={SIZE}", "tmpfs", str(disk)]
    try:
        mounted = subprocess.run(mount, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        pytest.skip("there is no mount(8)")
    if mounted.returncode:
        pytest.skip(f"a small disk cannot be mounted here: {mounted.stderr.strip()}")
    try:
        yield disk
    finally:
        subprocess.run(["umount", str(disk)], check=True)


def fill(samsa: Samsa) -> int:
    """How many appends there was room for."""
    with samsa.peer() as peer:
        create(peer, "t")
        for number in range(MOST):
            answer = append(peer, "t", batch(b"%d" % number + os.urandom(PIECE)))
            if answer.error_code:
                assert answer.error_code == ErrorCode.KAFKA_STORAGE_ERROR
                return number
    raise AssertionError("the disk is not full")


@pytest.mark.parametrize("options", [(), ("--fsync",)], ids=["", "fsync"])
def test_on_a_full_disk_clients_read_commit_and_delete_and_appends_go_on_when_there_is_room(
    options: tuple[str, ...], small_disk: Path, tmp_path: Path
) -> None:
    ballast = small_disk / "ballast"
    ballast.write_bytes(bytes(SIZE // 2))
    with (
        a_samsa(tmp_path / "run", "--data", str(small_disk / "data"), *options) as samsa,
        samsa.peer() as peer,
    ):
        stored = fill(samsa)
        assert append(peer, "t", batch(b"small")).error_code == ErrorCode.KAFKA_STORAGE_ERROR
        assert len(told(samsa, "ERROR   the disk is full")) == 1
        assert len(values(everything(peer, "t"))) == stored
        create(peer, "made-while-full")
        assert delete_before(peer, "t", TO_THE_END) == (ErrorCode.NONE, stored)
        ballast.unlink()
        assert eventually(lambda: append(peer, "t", batch(b"after")).error_code == 0)
        assert end_of(peer, "t") == stored + 1
        assert len(told(samsa, "the disk takes writes again")) == 1
        assert "Traceback" not in samsa.said()


def test_a_broker_that_is_killed_on_a_full_disk_starts_there_and_keeps_what_it_acknowledged(
    small_disk: Path, tmp_path: Path
) -> None:
    with a_samsa(tmp_path / "run", "--data", str(small_disk / "data")) as samsa:
        stored = fill(samsa)
        samsa.kill()
        samsa.again()
        with samsa.peer() as peer:
            assert len(values(everything(peer, "t"))) == stored
            answer = append(peer, "t", batch(b"x" * PIECE))
            assert answer.error_code == ErrorCode.KAFKA_STORAGE_ERROR
            assert delete_before(peer, "t", TO_THE_END) == (ErrorCode.NONE, stored)
        assert told(samsa, "ERROR   the disk is full")


def test_a_broker_that_cannot_start_because_not_a_byte_is_free_says_so(small_disk: Path) -> None:
    with suppress(OSError), (small_disk / "ballast").open("wb", buffering=0) as file:
        while file.write(bytes(4_096)):
            pass
    status, said = refused("up", "--data", small_disk / "data", "--port", 0)
    assert status == 1
    assert "the disk is full" in said
    assert str(small_disk) in said


def test_a_ledger_that_cannot_be_opened_is_named_with_a_way_out(tmp_path: Path) -> None:
    (tmp_path / "ledger.db").mkdir()
    status, said = refused("up", "--data", tmp_path, "--port", 0)
    assert status == 1
    assert f"{tmp_path}/ledger.db" in said
    assert "--data" in said


def test_a_folder_that_cannot_be_made_is_named_with_a_way_out(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    status, said = refused("up", "--data", tmp_path / "file" / "data", "--port", 0)
    assert status == 1
    assert str(tmp_path / "file") in said
    assert "--data" in said
