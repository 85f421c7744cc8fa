"""Any requests in any order; the clock goes both ways; near the last epoch and far from it."""

from itertools import count
from uuid import UUID

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule
from property.transactions.rules import LAST, Rules

from samsa import transactions

FIRST_ID = 1_000
TIMEOUT = st.integers(1, 50)
PARTITION = st.tuples(st.sampled_from([UUID(int=1), UUID(int=2)]), st.integers(0, 3))
PARTITIONS = st.frozensets(PARTITION, min_size=1, max_size=3)
GROUP = st.sampled_from(["g", "h", "a group whose name is rather long"])
WHO = st.integers(-1, 1)
"""The epoch that a request names, from the current one; two are not enough to go wrong."""
AGO = st.integers(0, 3)
"""Which of the last producers that were given an id and an epoch asks."""


class Requests(RuleBasedStateMachine):
    @initialize(
        epoch=st.sampled_from([None, 0, LAST - 2, LAST - 1, LAST]),
        most_bytes=st.sampled_from([110, 150, 100_000]),
    )
    def begin(self, epoch, most_bytes):
        self.rules = Rules()
        self.ids = count(FIRST_ID)
        self.now = 1_000
        self.settings = transactions.Settings(max_timeout_ms=50, most_bytes=most_bytes)
        self.transaction = None
        self.asked = []
        if epoch is not None:
            self.transaction = transactions.Transaction(
                FIRST_ID - 1, epoch, transactions.State.EMPTY, 1, 20
            )
            self.rules.given.add((FIRST_ID - 1, epoch))
            self.rules.used.add((FIRST_ID - 1, epoch))

    def act(self, request):
        self.asked.append(request)
        before = self.transaction
        after, answer = transactions.step(before, request, self.now, self.settings)
        self.rules.check(before, request, self.now, self.settings, after, answer)
        self.transaction = after
        if isinstance(answer, transactions.NeedsId):
            assert request.fresh_id < 0
            self.act(request._replace(fresh_id=next(self.ids)))

    def producer(self, ago, offset):
        """The current producer, or an earlier one, or none that there ever was."""
        given = sorted(self.rules.given)
        if self.transaction is None or not given:
            return 5, 5
        producer_id, epoch = given[max(0, len(given) - 1 - ago)]
        return producer_id, max(0, epoch + offset)

    @rule(timeout_ms=TIMEOUT)
    def init(self, timeout_ms):
        self.act(transactions.Init(timeout_ms))

    @rule(timeout_ms=TIMEOUT, ago=AGO, offset=WHO)
    def recover(self, timeout_ms, ago, offset):
        self.act(transactions.Init(timeout_ms, *self.producer(ago, offset)))

    @rule(partitions=PARTITIONS)
    def add_partitions(self, partitions):
        self.act(transactions.AddPartitions(*self.producer(0, 0), partitions))

    @rule(group=GROUP)
    def add_group(self, group):
        self.act(transactions.AddGroup(*self.producer(0, 0), group))

    @rule(partitions=PARTITIONS, group=GROUP, ago=AGO, offset=WHO)
    def named_by_another(self, partitions, group, ago, offset):
        who = self.producer(ago, offset)
        self.act(transactions.AddPartitions(*who, partitions))
        self.act(transactions.AddGroup(*who, group))

    @rule(partitions=PARTITIONS, group=GROUP, ago=AGO, offset=WHO)
    def verify(self, partitions, group, ago, offset):
        who = self.producer(ago, offset)
        self.act(transactions.Verify(*who, partitions))
        self.act(transactions.VerifyGroup(*who, group))

    @rule(commit=st.booleans(), bumps=st.booleans())
    def end(self, commit, bumps):
        self.act(transactions.EndTransaction(*self.producer(0, 0), commit, bumps))

    @rule(commit=st.booleans(), bumps=st.booleans(), ago=AGO, offset=WHO)
    def end_by_another(self, commit, bumps, ago, offset):
        self.act(transactions.EndTransaction(*self.producer(ago, offset), commit, bumps))

    @rule(ago=st.integers(0, 5))
    def repeat(self, ago):
        if self.asked:
            request = self.asked[max(0, len(self.asked) - 1 - ago)]
            self.act(request._replace(fresh_id=-1) if hasattr(request, "fresh_id") else request)

    @rule()
    def complete(self):
        if self.transaction is not None:
            self.act(transactions.Complete(self.transaction.serial))

    @rule(serial=st.integers(1, 5))
    def complete_another(self, serial):
        self.act(transactions.Complete(serial))

    @rule()
    def expire(self):
        self.act(transactions.Expire())

    @rule()
    def abort(self):
        self.act(transactions.Abort())

    @rule(by=st.integers(-60, 60))
    def turn_the_clock(self, by):
        self.now += by


class MoreRequests(Requests):
    pass


TestRequests = Requests.TestCase
TestRequests.settings = settings(max_examples=60, stateful_step_count=40)
TestMoreRequests = pytest.mark.thorough(MoreRequests.TestCase)
TestMoreRequests.settings = settings(TestRequests.settings, max_examples=300)
