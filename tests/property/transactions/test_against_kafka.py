"""Random requests to Apache Kafka 4.3.1 and to the pure step: the same answers, the same states.

Left out is what `samsa.transactions` says to be different, and the abort by an administrator, which
Kafka does not have: its tools write markers past the coordinator.
"""

import random
from collections.abc import Iterator
from unittest.mock import patch
from uuid import UUID

import pytest
import support.kafka
from property.transactions.kafka_side import (
    NO_SUCH_ID,
    OFFSETS,
    SECONDS,
    KafkaSide,
    offsets_partition,
)
from server.peer import Peer
from support.waiting import eventually
from unit.transactions.given import Shell

from samsa.transactions import (
    AddGroup,
    AddPartitions,
    EndTransaction,
    Expire,
    Init,
    State,
    Transaction,
    Verify,
)

TOPICS = {UUID(int=1): "one", UUID(int=2): "two"}
PARTITIONS = [(topic_id, number) for topic_id in TOPICS for number in range(3)]
GROUPS = ["g", "h"]
ONGOING = State.ONGOING.value
LAST = 32_766
TIMEOUT, SOON = 60_000, 200
SEEDS, REQUESTS = 40, 50
LOOKS_FOR_OLD_ONES = "transaction.abort.timed.out.transaction.cleanup.interval.ms=50\n"

# It needs a Kafka of its own, whose start takes longer than all else in this folder.
pytestmark = pytest.mark.thorough


@pytest.fixture(scope="module")
def kafka(tmp_path_factory: pytest.TempPathFactory) -> Iterator[KafkaSide]:
    with (
        patch.object(support.kafka, "PROPERTIES", support.kafka.PROPERTIES + LOOKS_FOR_OLD_ONES),
        support.kafka.a_kafka(tmp_path_factory.mktemp("kafka")) as broker,
        Peer(broker.address) as peer,
    ):
        side = KafkaSide(peer, TOPICS)
        side.prepare(partitions=3)
        yield side


class Pair:
    """One transactional id on both sides."""

    def __init__(self, kafka, name, seed):
        self.kafka = kafka
        self.name = name
        self.shell = Shell()
        self.theirs = {}
        """Kafka's producer ids by ours."""
        self.given = [(-1, -1)]
        self.random = random.Random(seed)
        self.story = []

    def begin_at(self, epoch):
        theirs = self.kafka.raise_epoch(self.name, TIMEOUT, epoch)
        ours = next(self.shell.ids)
        self.shell.transaction = Transaction(ours, epoch, State.EMPTY, 1, TIMEOUT)
        self.theirs[ours] = theirs
        self.given.append((ours, epoch))

    def producer(self):
        """The current producer, mostly; else an earlier one, or none that there ever was."""
        producer_id, epoch = self.given[-1]
        if self.random.random() < 0.4:
            producer_id, epoch = self.random.choice(self.given[-4:])
            epoch += self.random.choice([-1, 0, 0, 1])
        if self.random.random() < 0.05:
            producer_id = NO_SUCH_ID
        return max(producer_id, 0), max(epoch, 0)

    def partitions(self):
        return frozenset(self.random.sample(PARTITIONS, self.random.randint(1, 2)))

    def any_request(self):
        chance = self.random.random()
        if chance < 0.1:
            return Init(self.random.choice([TIMEOUT, TIMEOUT + 1, 0]))
        if chance < 0.2:
            return Init(TIMEOUT, *self.producer())
        if chance < 0.45:
            return AddPartitions(*self.producer(), self.partitions())
        if chance < 0.5:
            return Verify(*self.producer(), self.partitions())
        if chance < 0.6:
            return AddGroup(*self.producer(), self.random.choice(GROUPS))
        return EndTransaction(
            *self.producer(), self.random.random() < 0.5, self.random.random() < 0.7
        )

    def is_different(self, request):
        """Whether the answers differ, as it is said in `samsa.transactions`."""
        found = self.shell.transaction
        if found is not None and isinstance(request, EndTransaction):
            is_before = (request.producer_id, request.epoch + 1) == (found.producer_id, found.epoch)
            is_complete = found.state in (State.COMPLETE_COMMIT, State.COMPLETE_ABORT)
            return request.bumps and is_before and is_complete and request.epoch != found.last_epoch
        if found is None or not isinstance(request, Init) or request.producer_id == -1:
            return False
        is_current = (request.producer_id, request.epoch) == (found.producer_id, found.epoch)
        if is_current:  # the abort of what is ongoing gives it the last epoch, and it asks again
            return found.state is State.ONGOING and found.epoch + 1 == LAST
        return found.state is State.ONGOING or found.is_exhausted

    def act(self, request, may_change=False):
        """`may_change`: Kafka may do more by itself before it is asked how it is."""
        if self.is_different(request):
            return
        self.story.append(request)
        ours = self.shell.ask(request)
        wanted = request
        if hasattr(request, "producer_id") and request.producer_id >= 0:
            theirs = self.theirs.get(request.producer_id, NO_SUCH_ID)
            wanted = request._replace(producer_id=theirs)
        theirs = self.kafka.ask(self.name, wanted)
        told = self.told()
        assert (ours.error.name if ours.error else None) == theirs[0], told
        if ours.error is None and (isinstance(request, Init) or getattr(request, "bumps", False)):
            assert self.theirs.setdefault(ours.producer_id, theirs[1]) == theirs[1], told
            assert ours.epoch == theirs[2], told
            if (ours.producer_id, ours.epoch) != self.given[-1]:
                self.given.append((ours.producer_id, ours.epoch))
        assert may_change or self.described() == self.kafka.described(self.name), told

    def expire(self):
        """The time of the ongoing transaction is up, on both sides."""
        found = self.shell.transaction
        self.shell.now += found.timeout_ms
        assert self.shell.ask(Expire()).error is None
        self.story.append(Expire())
        assert eventually(lambda: self.kafka.described(self.name)[0] != ONGOING, SECONDS)
        wanted = self.kafka.described(self.name)
        self.theirs.setdefault(self.shell.transaction.producer_id, wanted[1])
        assert self.described() == wanted, self.told()

    def told(self):
        return "\n".join(map(str, [*self.story, self.shell.transaction]))

    def described(self):
        found = self.shell.transaction
        if found is None:
            return None
        partitions = {(TOPICS[topic_id], number) for topic_id, number in found.partitions}
        partitions |= {(OFFSETS, offsets_partition(group)) for group in found.groups}
        return (
            found.state.value,
            self.theirs[found.producer_id],
            found.epoch,
            found.timeout_ms,
            found.started_at >= 0,
            partitions,
        )


@pytest.mark.parametrize("seed", range(SEEDS))
def test_kafka_and_the_step_answer_any_requests_alike(kafka, seed):
    pair = Pair(kafka, f"near-{seed}", seed)
    for _ in range(REQUESTS):
        pair.act(pair.any_request())


@pytest.mark.parametrize("seed", range(2))
def test_they_do_near_the_last_epoch_too(kafka, seed):
    pair = Pair(kafka, f"far-{seed}", seed)
    pair.begin_at(LAST - 1)
    for _ in range(REQUESTS):
        pair.act(pair.any_request())


@pytest.mark.parametrize("epoch", [3, LAST - 1, LAST])
def test_they_do_after_a_transaction_timed_out(kafka, epoch):
    pair = Pair(kafka, f"late-{epoch}", epoch)
    pair.begin_at(epoch - 1)
    pair.act(Init(SOON))
    producer = pair.given[-1]
    pair.act(AddPartitions(*producer, pair.partitions()), may_change=True)
    pair.expire()
    ends = [EndTransaction(*producer, c, b) for c in (True, False) for b in (True, False)]
    for request in pair.random.sample([*ends, Init(TIMEOUT, *producer)], 5):
        pair.act(request)
    pair.act(Init(TIMEOUT))
    for _ in range(REQUESTS):
        pair.act(pair.any_request())
