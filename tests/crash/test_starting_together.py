"""Processes that start at the same time on one ledger, and are killed at any step of that."""

import asyncio
import subprocess
import sys
import time
from pathlib import Path

from crash import starter
from crash.seeds import seeded

from samsa.local.folder import FolderObjects
from samsa.local.sqlite import SqliteLedger

ROUNDS = 12
TOGETHER = 3
MOST_S = 1.5


def start(folder: Path, name: str) -> subprocess.Popen[bytes]:
    with (folder / f"{name}.said").open("wb") as said, (folder / "stderr").open("ab") as err:
        command = [sys.executable, starter.__file__, str(folder), name]
        return subprocess.Popen(command, stdout=said, stderr=err)


def acknowledged(folder: Path) -> dict[int, str]:
    found: dict[int, str] = {}
    for said in folder.glob("*.said"):
        for line in said.read_text().splitlines(keepends=True):
            if line.endswith("\n"):
                offset, word = line.split()
                assert int(offset) not in found, f"{offset} is {word}, and {found[int(offset)]}"
                found[int(offset)] = word
    return found


async def stored(folder: Path) -> dict[int, str]:
    ledger = SqliteLedger(str(folder / "ledger.db"))
    objects = FolderObjects(str(folder / "objects"))
    found: dict[int, str] = {}
    offset = 0
    while extents := await ledger.extents(starter.PARTITION, offset, 1_000):
        for extent in extents:
            data = bytes(await objects.get(extent.key, extent.start, extent.size))
            for at in range(extent.offsets):
                word = data[at * starter.WORD : (at + 1) * starter.WORD]
                found[extent.base + at] = word.decode().strip()
        offset = extents[-1].end
    await objects.close()
    await ledger.close()
    return found


def test_what_was_acknowledged_survives_any_order_of_starts_and_kills(tmp_path: Path) -> None:
    moments = seeded()
    for turn in range(ROUNDS):
        started = []
        for number in range(TOGETHER):
            started.append(start(tmp_path, f"p{turn}x{number}"))
            time.sleep(moments.choice([0, 0, moments.uniform(0, 0.3)]))
        time.sleep(moments.uniform(0, MOST_S))
        moments.shuffle(started)
        for process in started:
            process.kill()
            process.wait()
            time.sleep(moments.choice([0, 0.05]))
    promised, found = acknowledged(tmp_path), asyncio.run(stored(tmp_path))
    assert (tmp_path / "stderr").read_text() == ""
    assert promised, "nothing was ever stored"
    assert {offset: found.get(offset) for offset in promised} == promised
    assert sorted(found) == list(range(len(found))), "the offsets have holes"
    assert len(set(found.values())) == len(found), "a word is there twice"
