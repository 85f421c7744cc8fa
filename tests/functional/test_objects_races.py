"""Many writers of one key. moto is not raced: it looks first and writes later."""

import asyncio
from collections.abc import AsyncIterator
from functools import partial
from pathlib import Path
from typing import NamedTuple

import pytest
from functional.conftest import open_objects
from functional.racers import Race, race_of_processes, race_of_tasks

from samsa.ports import Missing, Objects

RACERS = 15
SIZE = 300_000


class Track(NamedTuple):
    objects: Objects
    race: Race


@pytest.fixture(params=["memory", "folder", "s3-versitygw"])
async def track(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Track]:
    objects = open_objects(request.param, tmp_path, request)
    if request.param == "folder":
        from samsa.local.folder import FolderObjects

        crowd = request.getfixturevalue("crowd")
        opened = partial(FolderObjects, str(tmp_path / "objects"))
        yield Track(objects, partial(race_of_processes, crowd, opened))
    else:
        yield Track(objects, partial(race_of_tasks, [objects]))
    await objects.close()


async def first_sight(objects: Objects, key: str) -> bytes:
    while True:
        try:
            return bytes(await objects.get(key))
        except Missing:
            await asyncio.sleep(0.001)


async def test_of_many_puts_exactly_one_is_stored_and_nobody_sees_half_of_it(track: Track):
    for number in range(4):
        key = f"log/a/0/{number}"
        bodies = [bytes([racer]) * (SIZE + racer) for racer in range(RACERS)]
        readers = [asyncio.ensure_future(first_sight(track.objects, key)) for _ in range(3)]
        stored = await track.race([("put_if_absent", key, [body]) for body in bodies])
        assert sum(stored) == 1
        winner = bodies[stored.index(True)]
        assert bytes(await track.objects.get(key)) == winner
        for seen in await asyncio.gather(*readers):
            assert seen == winner


async def test_puts_of_different_keys_do_not_disturb_each_other(track: Track):
    puts = [("put_if_absent", f"log/{racer}/0/0", [bytes([racer])]) for racer in range(RACERS)]
    assert all(await track.race(puts))
    for racer in range(RACERS):
        assert bytes(await track.objects.get(f"log/{racer}/0/0")) == bytes([racer])


async def test_puts_and_deletes_of_neighbours_do_not_disturb_each_other(track: Track):
    """A folder that its last object leaves may be removed while another one enters."""
    calls = []
    for round_number in range(30):
        calls += [("put_if_absent", f"log/a/{lane}/{round_number}", [b"x"]) for lane in range(3)]
        calls += [("delete", [f"log/a/{lane}/{round_number}"]) for lane in range(3)]
    answers = await track.race(calls)
    assert all(answer is not False for answer in answers)
