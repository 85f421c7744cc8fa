"""Packs: where appends go, what may be deleted, and who may not."""

import os
from pathlib import Path
from uuid import UUID

import pytest

from samsa.local import packs as module
from samsa.local.packs import PackPosition, Packs
from samsa.ports import Partition

PARTITION = Partition(UUID(int=1), 0)
OTHER = Partition(UUID(int=2), 0)


def store(packs: Packs, base: int, data: bytes = b"data", partition: Partition = PARTITION) -> str:
    place = packs.place(partition, base, len(data))
    packs.write(place, [data])
    packs.keep(place)
    return place.pack.key


def files(root: Path) -> list[str]:
    return sorted(str(path.relative_to(root)) for path in root.rglob("*") if path.is_file())


@pytest.fixture
def packs(tmp_path: Path) -> Packs:
    return Packs(str(tmp_path), "a")


def test_appends_of_a_partition_follow_one_another(packs: Packs, tmp_path: Path):
    first, second = store(packs, 0, b"one"), store(packs, 1, b"two")
    assert first == second
    assert (tmp_path / first).read_bytes() == b"onetwo"
    assert store(packs, 0, partition=OTHER) != first


def test_parts_are_written_one_after_the_other_even_if_there_are_many(packs: Packs, tmp_path: Path):
    parts = [b"%04d" % n for n in range(3_000)]
    place = packs.place(PARTITION, 0, 12_000)
    packs.write(place, parts)
    assert (tmp_path / place.pack.key).read_bytes() == b"".join(parts)


def test_a_place_that_was_given_back_is_used_again(packs: Packs, tmp_path: Path):
    store(packs, 0, b"one")
    lost = packs.place(PARTITION, 1, 5)
    packs.write(lost, [b"wrong"])
    packs.give_back(lost, 5)
    key = store(packs, 1, b"right")
    assert (tmp_path / key).read_bytes() == b"oneright"


def test_a_full_pack_is_left_for_the_next(packs: Packs, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(module, "PACK_BYTES", 10)
    keys = [store(packs, n, b"12345") for n in range(3)]
    assert keys[0] == keys[1] != keys[2]
    assert store(packs, 3, b"larger than any pack") != keys[2]


def test_a_pack_that_was_moved_away_is_not_written_to(packs: Packs, tmp_path: Path):
    first = store(packs, 0)
    (tmp_path / "pack").rename(tmp_path / "elsewhere")
    packs.look_again()
    assert store(packs, 1) != first
    (tmp_path / "elsewhere").rename(tmp_path / "pack" / "back")


def test_few_files_stay_open_and_a_closed_pack_is_continued(
    packs: Packs, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(module, "MOST_OPEN", 2)
    before = len(os.listdir("/proc/self/fd"))
    partitions = [Partition(UUID(int=1), n) for n in range(5)]
    keys = [store(packs, 0, b"one", p) for p in partitions]
    assert len(os.listdir("/proc/self/fd")) == before + 2
    assert [store(packs, 1, b"two", p) for p in partitions] == keys
    assert {(tmp_path / key).read_bytes() for key in keys} == {b"onetwo"}


def test_a_pack_that_is_in_use_is_not_closed(packs: Packs, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(module, "MOST_OPEN", 1)
    place: PackPosition = packs.place(PARTITION, 0, 4)
    store(packs, 0, partition=OTHER)
    packs.write(place, [b"data"])


def test_packs_are_found_by_the_offset_that_they_were_made_for(packs: Packs, tmp_path: Path):
    keys = []
    for base in (0, 10, 20):
        keys.append(store(packs, base))
        packs.leave(PARTITION)
    other = store(Packs(str(tmp_path), "b"), 5)
    assert packs.begun_below(PARTITION, 0) == []
    assert packs.begun_below(PARTITION, 10) == [keys[0], other]
    assert packs.begun_below(PARTITION, 21) == [keys[0], other, keys[1], keys[2]]
    assert packs.begun_below(OTHER, 21) == []


def test_nobody_locks_a_pack_that_is_written_to(packs: Packs, tmp_path: Path):
    key, janitor = store(packs, 0), Packs(str(tmp_path), "janitor")
    assert janitor.lock(key) is None
    packs.close()
    locked = janitor.lock(key)
    assert locked is not None
    os.close(locked)


def test_a_closed_pack_that_was_swept_is_not_continued(
    packs: Packs, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(module, "MOST_OPEN", 1)
    key = store(packs, 0)
    store(packs, 0, partition=OTHER)
    Packs(str(tmp_path), "janitor").delete(key)
    assert store(packs, 1) != key


def test_a_pack_with_something_dead_in_it_is_left(packs: Packs):
    key = store(packs, 0)
    packs.tidy(PARTITION, 0)
    assert store(packs, 1) == key
    packs.tidy(PARTITION, 1)
    assert store(packs, 2) != key


def test_the_folder_of_the_last_pack_goes_with_it(packs: Packs, tmp_path: Path):
    key = store(packs, 0)
    packs.leave(PARTITION)
    packs.delete(key)
    assert not (tmp_path / key).parent.exists()
    packs.delete(key)
    store(packs, 1)


def test_a_buried_topic_leaves_nothing(packs: Packs, tmp_path: Path):
    store(packs, 0)
    kept = store(packs, 0, partition=OTHER)
    packs.bury(PARTITION.topic_id)
    assert files(tmp_path) == [kept]
