"""Kafka Streams with `exactly_once_v2`: words are counted while the program is killed twice.

Lines are written all the time. The program reads them, sends each word to a topic of its own
(repartition), counts it in a store with a changelog, and writes each new count. It is killed while
a transaction is open: once it finds its folder again, once it starts with an empty one.

Without a cache, each word leads to one record with its new count. So the counts of a word must be
1, 2, 3 … in the output and in the changelog: a word that is lost, counted twice or written twice
makes a hole or a repetition.
"""

import random
import threading
from collections import Counter
from collections.abc import Iterable
from contextlib import ExitStack, closing
from typing import NamedTuple
from uuid import uuid4

import pytest
from clients.adapters.confluent import Confluent
from confluent_kafka import Producer
from frameworks.programs import Program
from frameworks.reading import Found, everything
from frameworks.watch import Watch
from support.broker import Broker

# Most of the time members of groups that were killed are missed.
pytestmark = pytest.mark.waits

PARTITIONS = 3
WORDS = tuple(f"word-{number}" for number in range(40))
WORDS_PER_LINE = 5
LINES_AT_ONCE = 4
PAUSE_S = 0.05
FLUSH_S = 20.0
SETTINGS = """\
application.id={application}
bootstrap.servers={bootstrap}
state.dir={folder}
processing.guarantee=exactly_once_v2
num.stream.threads=2
commit.interval.ms=1000
statestore.cache.max.bytes=0
auto.offset.reset=earliest
session.timeout.ms=6000
heartbeat.interval.ms=1000
"""


class Writer(threading.Thread):
    """Writes lines until it is told to stop, and counts their words."""

    def __init__(self, bootstrap: str, topic: str) -> None:
        super().__init__()
        self.counts: Counter[str] = Counter()
        self._producer = Producer({"bootstrap.servers": bootstrap, "enable.idempotence": True})
        self._topic = topic
        self._is_over = threading.Event()

    def run(self) -> None:
        draws = random.Random(15)
        while not self._is_over.wait(PAUSE_S):
            for _ in range(LINES_AT_ONCE):
                words = draws.choices(WORDS, k=WORDS_PER_LINE)
                partition = draws.randrange(PARTITIONS)
                self._producer.produce(self._topic, " ".join(words), partition=partition)
                self.counts.update(words)
            self._producer.poll(0)

    def stop(self) -> None:
        self._is_over.set()
        self.join()
        assert self._producer.flush(FLUSH_S) == 0


class Counted(NamedTuple):
    """What is there at the end."""

    truth: Counter[str]
    seen_live: list[Found]
    output: list[Found]
    changelog: list[Found]
    uncommitted: int
    """How many records the output has with those that were never committed."""


@pytest.fixture(scope="module")
def counted(broker: Broker, tmp_path_factory: pytest.TempPathFactory) -> Counted:
    folder = tmp_path_factory.mktemp("streams")
    application = f"words-{uuid4().hex[:8]}"
    lines, output = f"{application}-lines", f"{application}-output"
    for topic in (lines, output):
        Confluent(broker.bootstrap).create_topic(topic, PARTITIONS, {})
    with ExitStack() as stack:
        watch = stack.enter_context(closing(Watch(broker.bootstrap, output)))
        writer = Writer(broker.bootstrap, lines)
        writer.start()
        stack.callback(writer.stop)
        # Its folder tells a program who it was, so that it fences its former self. Without the
        # folder, the open transaction ends by its time-out.
        for number, state in enumerate(("first", "first", "second")):
            settings = folder / f"{number}.properties"
            settings.write_text(
                SETTINGS.format(
                    application=application, bootstrap=broker.bootstrap, folder=folder / state
                )
            )
            program = Program("WordCount", [str(settings), lines, output], folder / "log")
            stack.callback(program.stop)
            program.start()
            watch.wait_for_a_commit(program)
            if number < 2:
                watch.wait_for_an_open_transaction(program)
                program.kill()
        writer.stop()
        watch.wait_for(program, writer.counts.total())
        program.stop()
        return Counted(
            writer.counts,
            watch.committed.read_until_quiet(),
            everything(broker.bootstrap, output),
            everything(broker.bootstrap, f"{application}-counts-changelog"),
            len(watch.all.read_until_quiet()),
        )


def counts_of_words(found: Iterable[Found]) -> dict[str, list[int]]:
    counts: dict[str, list[int]] = {}
    for one in found:
        counts.setdefault(one.key, []).append(int.from_bytes(one.value))
    return counts


def one_after_the_other(truth: Counter[str]) -> dict[str, list[int]]:
    return {word: list(range(1, count + 1)) for word, count in truth.items()}


def test_every_word_is_counted_once_by_a_program_that_is_killed_twice(counted: Counted) -> None:
    assert counts_of_words(counted.output) == one_after_the_other(counted.truth)


def test_who_reads_meanwhile_sees_what_a_later_reader_sees(counted: Counted) -> None:
    assert sorted(counted.seen_live) == sorted(counted.output)


def test_the_changelog_of_the_store_holds_each_count_once(counted: Counted) -> None:
    assert counts_of_words(counted.changelog) == one_after_the_other(counted.truth)


def test_a_killed_program_leaves_records_that_were_never_committed(counted: Counted) -> None:
    """Else the kills have met no transaction, and the other tests have shown nothing."""
    assert counted.uncommitted > len(counted.output)
