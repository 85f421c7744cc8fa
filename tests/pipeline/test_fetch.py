"""Executors live long, and read from more than one store."""

import gc
import threading
from pathlib import Path
from uuid import UUID

import pytest
from support.descriptors import open_below
from support.waiting import eventually

from pyspark_samsa.fetch import MOST_OPEN, Far, Files, Source
from pyspark_samsa.splits import Run
from samsa.local.memory import MemoryObjects


def a_run(key: str) -> Run:
    return Run("orders", 0, UUID(int=1), key, start=0, length=3, first=0, end=1)


def read(source: Source, *keys: str) -> list[bytes]:
    return [bytes(get()) for _, get in source.each([a_run(key) for key in keys])]


@pytest.mark.parametrize("count", [1, MOST_OPEN + 9])
def test_files_are_open_for_as_long_as_somebody_may_read_them(tmp_path: Path, count: int):
    keys = [f"{number:03}" for number in range(count)]
    for key in keys:
        (tmp_path / key).write_text(key)
    files = Files(str(tmp_path))
    assert read(files, *keys) == [key.encode() for key in keys]
    assert len(open_below(tmp_path)) == min(count, MOST_OPEN)
    del files
    gc.collect()
    assert open_below(tmp_path) == []


async def test_the_thread_of_a_far_store_ends_with_its_last_reader():
    objects = MemoryObjects()
    await objects.put_if_absent("a", [b"abc"])
    before = set(threading.enumerate())
    far = Far(objects)
    (thread,) = set(threading.enumerate()) - before
    assert read(far, "a") == [b"abc"]
    assert thread.is_alive()
    del far
    gc.collect()
    assert eventually(lambda: not thread.is_alive())
