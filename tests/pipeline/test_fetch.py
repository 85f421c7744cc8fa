"""Executors live long, and read from more than one store."""

import gc
import threading
from pathlib import Path
from uuid import UUID

import pytest
from pipeline.given import a_batch
from support.descriptors import open_below
from support.waiting import eventually

from pyspark_samsa.fetch import MOST_OPEN, LocalFiles, RangeSource, RemoteFiles
from pyspark_samsa.splits import ByteRun
from samsa.local.folder import FolderObjects
from samsa.local.memory import MemoryObjects
from samsa.log.extents import Range
from samsa.records import Record, build, headers


def a_run(stored: Range) -> ByteRun:
    return ByteRun("orders", 0, UUID(int=1), stored, first=0, end=1)


def objects(*keys: str) -> list[ByteRun]:
    return [a_run(Range(key, 0, 3, 1)) for key in keys]


def read(source: RangeSource, runs: list[ByteRun]) -> list[bytes]:
    return [bytes(get()) for _, get in source.each(runs)]


@pytest.mark.parametrize("count", [1, MOST_OPEN + 9])
def test_files_are_open_for_as_long_as_somebody_may_read_them(tmp_path: Path, count: int):
    keys = [f"{number:03}" for number in range(count)]
    for key in keys:
        (tmp_path / key).write_text(key)
    files = LocalFiles(str(tmp_path))
    assert read(files, objects(*keys)) == [key.encode() for key in keys]
    assert len(open_below(tmp_path)) == min(count, MOST_OPEN)
    del files
    gc.collect()
    assert open_below(tmp_path) == []


async def test_the_thread_of_a_far_store_ends_with_its_last_reader():
    store = MemoryObjects()
    await store.put_if_absent("a", [b"abc"])
    before = set(threading.enumerate())
    far = RemoteFiles(store)
    (thread,) = set(threading.enumerate()) - before
    assert read(far, objects("a")) == [b"abc"]
    assert thread.is_alive()
    del far
    gc.collect()
    assert eventually(lambda: not thread.is_alive())


@pytest.fixture(params=["files", "far"])
def source(request: pytest.FixtureRequest, tmp_path: Path) -> RangeSource:
    """Of one object, `two`: the batches BATCHES, between other bytes."""
    (tmp_path / "two").write_bytes(b"before" + BATCHES + b"after")
    return (
        LocalFiles(str(tmp_path))
        if request.param == "files"
        else RemoteFiles(FolderObjects(str(tmp_path)))
    )


BATCHES = a_batch(b"a", b"b") + build([Record(2, 5, None, b"c")], base_offset=2)
IN_AN_OBJECT = Range("two", len(b"before"), len(BATCHES), 3)
IN_THE_LEDGER = Range("", 0, len(BATCHES), 3, data=BATCHES)


def bases(data: bytes) -> list[int]:
    return [header.base_offset for _, header in headers(data)]


@pytest.mark.parametrize("stored", [IN_AN_OBJECT, IN_THE_LEDGER], ids=["object", "ledger"])
def test_what_was_stored_for_other_offsets_is_read_with_its_own(source: RangeSource, stored: Range):
    runs = [a_run(stored._replace(shift=shift)) for shift in (0, 7, 0)]
    found = read(source, runs)
    assert found[0] == found[2] == BATCHES, "no bytes that are read again may be changed"
    assert bases(found[1]) == [7, 9]
    assert [len(found[1]), found[1][8:61]] == [len(BATCHES), BATCHES[8:61]]
