"""Two processes on one DynamoDB and one S3, of which one is killed at its calls to them."""

import asyncio
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import NamedTuple
from uuid import uuid4

from crash import tidy_up
from crash.kills import Kill, Kills, Moment
from crash.promises import the_prefix_never_changed
from crash.reader import Reader
from crash.writers import TOPICS, AmongKills, Beside, Writer, last_acknowledged
from faults.proxy import FaultyProxy, faulty_proxy
from server.process import Samsa
from server.talk import create, end_of, everything, new_producer_id
from support.broker import Broker, listening
from support.stores import BUCKET
from support.waiting import eventually

from samsa.aws.dynamodb import DynamoLedger
from samsa.aws.journal import HeadJournal
from samsa.aws.s3 import S3Objects
from samsa.local.wakeups import LocalWakeups
from samsa.log.stores import Limits, Stores
from samsa.log.sweep import Sweeper
from samsa.log.windows import WindowSweeper
from samsa.ports import Partition
from samsa.records import Record
from samsa.runtime.system import SystemClock, fresh_words

UPKEEP = ("--upkeep-interval", "2", "--settle-time", "2")
"""So that merges are killed, too."""
PRODUCERS = 12
"""Of the writer among kills: three times as many as a head of `tidy_up` keeps, on two topics."""
DEATH_S = 30
ALONE_S = 0.4
"""How long the other is alone, at most, before the dead one starts again."""
LATE_S = 2.0


class Place(NamedTuple):
    """A table and a folder of a bucket, and where their servers are."""

    name: str
    dynamodb: str
    s3: str

    def options(self) -> tuple[str, ...]:
        return (
            f"--ledger=dynamodb://{self.name}?region=us-east-1&endpoint={self.dynamodb}",
            f"--objects=s3://{BUCKET}/{self.name}?region=us-east-1&endpoint={self.s3}",
        )


class TidySamsa(Samsa):
    def _start(self, options: tuple[str, ...]) -> subprocess.Popen[bytes]:
        out = self.folder / "stdout"
        usual = ["up", "--host", "127.0.0.1", "--port", "0", "--no-http"]
        with out.open("wb") as stdout, (self.folder / "stderr").open("wb") as stderr:
            process = subprocess.Popen(
                [sys.executable, "-P", "-u", tidy_up.__file__, *usual, *options],
                stdin=subprocess.DEVNULL,
                stdout=stdout,
                stderr=stderr,
            )
        self.broker = Broker(listening(process, out))
        return process

    def unforeseen(self) -> list[str]:
        return [line for line in self.logged() if "Traceback" in line or " ERROR " in line]


class Scene:
    def __init__(
        self,
        place: Place,
        survivor: TidySamsa,
        victim: TidySamsa,
        kills: Kills,
        proxies: Sequence[FaultyProxy],
        moments: random.Random,
    ) -> None:
        self.kills = kills
        self.survivor = survivor
        self.victim = victim
        self._place = place
        self._proxies = proxies
        self._moments = moments
        with survivor.peer() as peer:
            for topic in TOPICS:
                create(peer, topic)
            ids = [new_producer_id(peer) for _ in range(PRODUCERS + 2)]
        seeds = iter(lambda: moments.randrange(10**9), None)
        self._among = AmongKills(
            "among", next(seeds), ids[:PRODUCERS], victim.address, survivor.address
        )
        self._beside = Beside("beside", next(seeds), ids[PRODUCERS:], survivor.address, 0.01)
        self.writers: list[Writer] = [self._among, self._beside]
        self._readers = [Reader(topic, survivor.address) for topic in TOPICS]
        for writer in self.writers:
            writer.start()

    def kill(self, moment: Moment, number: int, call: str = "") -> None:
        """At that call of the victim; then it starts again."""
        late_s = self._moments.uniform(0, LATE_S)
        self.kills.arm(Kill(moment, number, call, late_s), self.victim.pid)
        try:
            status = self.victim.process.wait(DEATH_S)
        except subprocess.TimeoutExpired:
            for writer in self.writers:
                writer.raise_if_failed()
            raise AssertionError(
                f"no {call or 'call'} number {number}: {self.kills.seen}"
            ) from None
        assert status == -signal.SIGKILL, self.victim.said()
        assert self.victim.unforeseen() == []
        time.sleep(self._moments.uniform(0, ALONE_S))
        self.victim.again()
        self._shows_all(self.victim)

    def _shows_all(self, samsa: Samsa) -> None:
        """What anyone was told is stored, whoever told it."""
        told = last_acknowledged(self.writers)
        with samsa.peer() as peer:
            for topic, offset in told.items():
                assert end_of(peer, topic) > offset, f"{topic} {offset} is hidden"
        for writer in self.writers:
            writer.raise_if_failed()

    def finish(self) -> Counter[str]:
        """Figures, once all that was promised is found to be so."""
        for writer in self.writers:
            writer.finish()
        late = sum(moment is Moment.LATE for _, moment in self.kills.met)
        assert eventually(
            lambda: sum(len(proxy.late) for proxy in self._proxies) == late, LATE_S + 5
        )
        orphans = asyncio.run(sweep(self._place))
        self.victim.kill()  # so that it reads with nothing in its memory
        self.victim.again()
        logs = {}
        for topic, reader in zip(TOPICS, self._readers, strict=True):
            logs[topic] = log = self._read(self.victim, topic)
            assert log == self._read(self.survivor, topic), "the processes do not agree"
            the_prefix_never_changed(reader.finish(), log)
        all_is_kept(self.writers, logs)
        assert self.survivor.unforeseen() == []
        return self._figures(logs, orphans)

    def _figures(self, logs: dict[str, list[Record]], orphans: int) -> Counter[str]:
        told = sum(len(found) for w in self.writers for found in w.acknowledged.values())
        stored = sum(map(len, logs.values()))
        return Counter(
            {
                "kills": len(self.kills.met),
                "records": stored,
                "acknowledged": told,
                "stored without an answer": stored - told,
                "told to try again": sum(w.told_to_try_again for w in self.writers),
                "orphaned objects": orphans,
            }
        )

    @staticmethod
    def _read(samsa: Samsa, topic: str) -> list[Record]:
        with samsa.peer() as peer:
            return everything(peer, topic)


async def sweep(place: Place) -> int:
    """Delete the objects that the dead have put and never committed; how many. Whatever is in the
    log can be read after it."""
    ledger = DynamoLedger(place.name, place.dynamodb, "us-east-1")
    objects = S3Objects(BUCKET, place.name, place.s3, "us-east-1")
    clock, nonce = SystemClock(), fresh_words()
    journal = HeadJournal(ledger, objects, nonce, clock)
    limits = Limits(leave_window_ms=0)  # nobody writes any more
    stores = Stores(ledger, objects, journal, clock, LocalWakeups("127.0.0.1|0"), nonce, limits)
    sweeper = Sweeper(stores)
    swept = await WindowSweeper(stores, sweeper).sweep()
    for topic in await ledger.topics():
        swept += await sweeper.find_orphans(Partition(topic.id, 0))
    await ledger.close()
    return swept


def all_is_kept(writers: Sequence[Writer], logs: dict[str, list[Record]]) -> None:
    for topic, log in logs.items():
        found = [bytes(record.value or b"") for record in log]
        assert [record.offset for record in log] == list(range(len(log))), "offsets have holes"
        assert len(set(found)) == len(found), "a record is there twice"
        sent: set[bytes] = set()
        for writer in writers:
            for offset, value in writer.acknowledged[topic].items():
                assert offset < len(found), f"{topic} {offset} is lost"
                assert found[offset] == value, f"{topic} {offset} is another record"
            for (where, _), values in writer.ordered.items():
                if where == topic:
                    mine = set(values)
                    assert [value for value in found if value in mine] == values
                    sent |= mine
            sent |= writer.tried
        assert set(found) <= sent, "a record that nobody sent"


@contextmanager
def a_scene(folder: Path, dynamodb: str, s3: str, moments: random.Random) -> Iterator[Scene]:
    """Only the calls of the victim pass the proxies."""
    kills, place = Kills(), Place(f"kills-{uuid4()}", dynamodb, s3)
    with ExitStack() as stack:
        proxies = [stack.enter_context(faulty_proxy(url, kills)) for url in (dynamodb, s3)]
        for proxy in proxies:
            proxy.when_silent = kills.strike
        through = Place(place.name, *(proxy.url for proxy in proxies))
        survivor = stack.enter_context(ended(folder / "survivor", place))
        victim = stack.enter_context(ended(folder / "victim", through))
        yield Scene(place, survivor, victim, kills, proxies, moments)


@contextmanager
def ended(folder: Path, place: Place) -> Iterator[TidySamsa]:
    samsa = TidySamsa(folder, *place.options(), *UPKEEP)
    try:
        yield samsa
    except BaseException:
        samsa.process.kill()
        samsa.process.wait()
        raise
    samsa.end()
