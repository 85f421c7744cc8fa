"""The janitor function: a round applies retention, settles, merges, sweeps, buries topics."""

import asyncio
import importlib.util
import itertools
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any
from uuid import uuid4

import pytest

from samsa.log.janitor import LOOK_EVERY_MS
from samsa.log.layout import Batch
from samsa.log.segments import segment_key
from samsa.log.stores import partition_prefix
from samsa.ports import Partition, Topic, Unavailable
from samsa.ports.bounds import INLINE_BYTES
from samsa.records import Record, build, read_header
from samsa.runtime.upkeep import tend

APP = Path(__file__).parents[2] / "functions" / "janitor" / "app.py"
EVENT = {"source": "aws.events", "detail-type": "Scheduled Event", "detail": {}}
LONG_AGO = 1_000
LARGE = bytes(INLINE_BYTES)
"""With its header it is too large for a head, and so becomes an object."""


class Janitor:
    def __init__(self, app: ModuleType) -> None:
        self._app = app
        self.broker = app.BROKER

    def round(self, context: Any = None) -> None:
        assert self._app.handler(EVENT, context) == {}

    def do(self, work: Any) -> Any:
        return self._app.LOOP.run_until_complete(work)

    def topic(self, **configs: str) -> Topic:
        topic = Topic(f"letters-{uuid4()}", uuid4(), 1, LONG_AGO, configs)
        assert self.do(self.broker.stores.ledger.create_topic(topic))
        return topic

    def append(self, partition: Partition, value: bytes = LARGE) -> None:
        data = bytearray(build([Record(0, LONG_AGO, None, value)]))
        batch = Batch(read_header(data), memoryview(data))
        self.do(self.broker.log.append_once(partition, [batch]))

    def head(self, partition: Partition) -> Any:
        return self.do(self.broker.stores.ledger.head(partition))

    def objects(self, partition: Partition) -> list[str]:
        async def listed() -> list[str]:
            return [
                key async for key in self.broker.stores.objects.list(partition_prefix(partition))
            ]

        return self.do(listed())


@pytest.fixture
def janitors(
    environment: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> Iterator[Callable[[], Janitor]]:
    """Fresh environments of the function, on the same stores."""
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    started: list[ModuleType] = []

    def start() -> Janitor:
        spec = importlib.util.spec_from_file_location("janitor_app", APP)
        assert spec is not None
        assert spec.loader is not None
        app = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(app)
        started.append(app)
        return Janitor(app)

    yield start
    for app in started:
        app.LOOP.run_until_complete(app.BROKER.stores.ledger.close())
        app.LOOP.close()


@pytest.fixture
def janitor(janitors: Callable[[], Janitor]) -> Janitor:
    return janitors()


@pytest.fixture
def putting(janitor: Janitor, monkeypatch: pytest.MonkeyPatch) -> Partition:
    """A partition whose writer died between its put and its commit."""
    partition = Partition(janitor.topic(**{"retention.ms": "-1"}).id, 0)
    with monkeypatch.context() as broken:

        async def dies(*_: Any) -> Any:
            raise Unavailable("it is gone")

        broken.setattr(janitor.broker.stores.ledger, "update_head", dies)
        broken.setattr("samsa.aws.commit.TRIES", 1)
        with pytest.raises(Unavailable):
            janitor.append(partition)
    assert janitor.head(partition).next_offset == 0
    return partition


def test_what_a_dead_writer_put_and_did_not_commit_is_swept(janitor: Janitor, putting: Partition):
    (orphan,) = janitor.objects(putting)
    janitor.append(putting)
    janitor.round()
    (kept,) = janitor.objects(putting)
    assert kept != orphan
    plan = janitor.do(janitor.broker.log.plan(putting, 0, 100_000))
    assert [one.key for one in plan.ranges] == [kept]


def test_a_writer_that_was_only_slow_puts_again_what_was_swept(
    janitor: Janitor, monkeypatch: pytest.MonkeyPatch
):
    """It sleeps between its put and its commit, and the janitor finds an object without a name."""
    partition = Partition(janitor.topic(**{"retention.ms": "-1"}).id, 0)
    janitor.append(partition)
    janitor.round()  # the first of a partition looks for such objects, and then one in six hours
    broker = janitor.broker
    update_head, swept = broker.stores.ledger.update_head, []

    async def sleeps(*args: Any) -> Any:
        if not swept:
            set_ahead(janitor, LOOK_EVERY_MS // 60_000 + 1, monkeypatch)
            await tend(broker)
            swept.append(broker.log.sweeper.deleted)
        return await update_head(*args)

    monkeypatch.setattr(broker.stores.ledger, "update_head", sleeps)
    janitor.append(partition)
    assert swept == [1]
    plan = janitor.do(broker.log.plan(partition, 0, 100_000))
    pieces = janitor.do(broker.log.load(plan.ranges))
    assert [read_header(piece, 0).base_offset for piece in pieces] == [0, 1]


def test_what_lies_in_a_head_is_in_the_index_after_a_round(janitor: Janitor):
    partition = Partition(janitor.topic(**{"retention.ms": "-1"}).id, 0)
    janitor.append(partition, b"dear sir")
    assert len(janitor.head(partition).tail) == 1
    janitor.round()
    assert janitor.head(partition).tail == ()
    (indexed,) = janitor.do(janitor.broker.stores.ledger.extents(partition, 0, 9))
    assert b"dear sir" in indexed.data


def test_what_is_too_old_leaves_the_log_and_later_the_bucket(
    janitor: Janitor, monkeypatch: pytest.MonkeyPatch
):
    partition = Partition(janitor.topic(**{"retention.ms": "1000"}).id, 0)
    kept = Partition(janitor.topic(**{"retention.ms": "-1"}).id, 0)
    for each in (partition, kept):
        janitor.append(each)
    janitor.round()
    assert janitor.head(partition).log_start == 1
    janitor.round()  # what the first found in the head is in the index, and leaves it
    assert janitor.do(janitor.broker.stores.ledger.extents(partition, 0, 9)) == []
    assert len(janitor.objects(partition)) == 1  # someone may be reading it
    clock = janitor.broker.stores.clock
    later = clock.now_ms() + janitor.broker.stores.limits.sweep_grace_ms + 1
    monkeypatch.setattr(type(clock), "now_ms", lambda _: later)
    janitor.round()
    assert janitor.objects(partition) == []
    assert (janitor.head(kept).log_start, len(janitor.objects(kept))) == (0, 1)


def test_topics_that_say_nothing_keep_records_for_as_long_as_the_deployment_says(
    environment: dict[str, str], monkeypatch: pytest.MonkeyPatch, janitors: Callable[[], Janitor]
):
    monkeypatch.setenv("SAMSA_LOG_RETENTION_HOURS", "-1")
    patient = janitors()
    silent = Partition(patient.topic().id, 0)
    own = Partition(patient.topic(**{"retention.ms": "1000"}).id, 0)
    for each in (silent, own):
        patient.append(each)
    patient.round()
    assert (patient.head(silent).log_start, patient.head(own).log_start) == (0, 1)
    monkeypatch.setenv("SAMSA_LOG_RETENTION_HOURS", "2")
    strict = janitors()
    strict.round()
    assert strict.head(silent).log_start == 1


def test_a_deleted_topic_is_buried(janitor: Janitor):
    topic = janitor.topic()
    partition = Partition(topic.id, 0)
    janitor.append(partition)
    assert janitor.do(janitor.broker.stores.ledger.delete_topic(topic))
    assert janitor.objects(partition)
    janitor.round()
    assert janitor.objects(partition) == []
    assert janitor.do(janitor.broker.stores.ledger.doomed_topics()) == []


def set_ahead(janitor: Janitor, minutes: int, monkeypatch: pytest.MonkeyPatch) -> None:
    later = time.time_ns() // 1_000_000 + minutes * 60_000
    monkeypatch.setattr(type(janitor.broker.stores.clock), "now_ms", lambda _: later)


class Context:
    """An invocation that has time for so many questions how much is left."""

    def __init__(self, answers: int) -> None:
        self._answers = answers

    def get_remaining_time_in_millis(self) -> int:
        self._answers -= 1
        return 900_000 if self._answers >= 0 else 1_000


def test_small_objects_become_one_and_the_old_ones_go(
    janitors: Callable[[], Janitor], monkeypatch: pytest.MonkeyPatch
):
    janitor = janitors()
    partition = Partition(janitor.topic(**{"retention.ms": "-1"}).id, 0)
    for _ in range(8):
        janitor.append(partition)
    for minutes in (2, 4):
        set_ahead(janitor, minutes, monkeypatch)
        janitor.round()
    assert len(janitor.objects(partition)) == 9
    janitor = janitors()  # another environment, which remembers nothing itself
    set_ahead(janitor, 6, monkeypatch)
    janitor.round()
    (segment,) = janitor.objects(partition)
    assert segment.startswith(segment_key(partition, 0, 8, ""))
    plan = janitor.do(janitor.broker.log.plan(partition, 3, 100_000))
    assert plan.ranges[-1].end_offset == 8


def test_while_there_is_more_to_merge_and_time_left_an_invocation_goes_on(
    janitor: Janitor, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("samsa.runtime.upkeep.ROUND_SWAPS", 1)
    configs = {"retention.ms": "-1", "segment.bytes": "400"}
    partition = Partition(janitor.topic(**configs).id, 0)
    for _ in range(16):
        janitor.append(partition, b"dear sir")
    set_ahead(janitor, 2, monkeypatch)
    janitor.round()
    index = janitor.do(janitor.broker.stores.ledger.extents(partition, 0, 99))
    assert 2 < len(index) < 6  # and each was a round


def test_a_round_that_runs_out_of_time_leaves_the_rest_to_the_next(
    janitor: Janitor, monkeypatch: pytest.MonkeyPatch
):
    partitions = [Partition(janitor.topic(**{"retention.ms": "1000"}).id, 0) for _ in range(3)]
    for partition in partitions:
        janitor.append(partition)

    def done() -> int:
        return sum(janitor.head(partition).log_start for partition in partitions)

    reached = [done()]
    for _ in range(60):
        if reached[-1] == 3:
            break
        janitor.round(Context(answers=1))
        reached.append(done())
    assert reached[-1] == 3
    assert max(after - before for before, after in itertools.pairwise(reached)) == 1


def test_a_partition_that_fails_is_an_error_of_the_invocation_once_all_others_are_done(
    janitor: Janitor, monkeypatch: pytest.MonkeyPatch
):
    partitions = [Partition(janitor.topic(**{"retention.ms": "1000"}).id, 0) for _ in range(3)]
    for partition in partitions:
        janitor.append(partition)
    real = janitor.broker.log.retainer.retain

    async def retain(partition: Partition, *rest: Any) -> Any:
        if partition == partitions[1]:
            raise OverflowError("too large")
        return await real(partition, *rest)

    monkeypatch.setattr(janitor.broker.log.retainer, "retain", retain)
    with pytest.raises(Exception, match=r"failed steps: .'retention': 1."):
        janitor.round()
    assert [janitor.head(each).log_start for each in partitions] == [1, 0, 1]
    janitor.round()  # it rests


def test_a_store_that_hangs_does_not_take_all_of_an_invocation(
    janitor: Janitor, monkeypatch: pytest.MonkeyPatch
):
    partitions = [Partition(janitor.topic(**{"retention.ms": "1000"}).id, 0) for _ in range(2)]
    for partition in partitions:
        janitor.append(partition)
    real = janitor.broker.log.retainer.retain

    async def retain(partition: Partition, *rest: Any) -> Any:
        if partition == partitions[0]:
            await asyncio.Event().wait()
        return await real(partition, *rest)

    class Short:
        def get_remaining_time_in_millis(self) -> int:
            return 60_001

    monkeypatch.setattr(janitor.broker.log.retainer, "retain", retain)
    monkeypatch.setattr(janitor._app, "LAST_MS", 59_900)
    janitor.round(Short())
    assert [janitor.head(each).log_start for each in partitions] == [0, 1]
