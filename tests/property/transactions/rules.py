"""What must be true of every step of a transactional id, whatever came before it."""

from samsa.transactions import (
    AddGroup,
    AddPartitions,
    Answer,
    EndTransaction,
    Expire,
    Init,
    NeedsId,
    State,
    Unfinished,
    Verify,
    VerifyGroup,
    pack,
    unpack,
)
from samsa.transactions.state import SKEW_MS

LAST = 32_766
COMMITS = {State.PREPARE_COMMIT, State.COMPLETE_COMMIT}
ENDED = {State.COMPLETE_COMMIT, State.COMPLETE_ABORT}
IDLE = {State.EMPTY, *ENDED}
TRANSITIONS = {
    State.EMPTY: {State.EMPTY, State.ONGOING, State.COMPLETE_ABORT},
    State.ONGOING: {State.ONGOING, State.PREPARE_COMMIT, State.PREPARE_ABORT},
    State.PREPARE_COMMIT: {State.COMPLETE_COMMIT},
    State.PREPARE_ABORT: {State.COMPLETE_ABORT},
    State.COMPLETE_COMMIT: {State.EMPTY, State.ONGOING, State.COMPLETE_ABORT},
    State.COMPLETE_ABORT: {State.EMPTY, State.ONGOING, State.COMPLETE_ABORT},
}


class Rules:
    """Watches the steps of one transactional id."""

    def __init__(self):
        self.given = set()
        """All (producer id, epoch) that clients were given."""
        self.fenced = set()
        """Those that a new producer has replaced."""
        self.used = set()
        """All (producer id, epoch) that clients or markers have used."""
        self.commits = {}
        """Whether it was committed, by serial, of every transaction that was decided."""

    def check(self, before, request, now, settings, after, answer):
        self.check_change(before, after, answer)
        if after is not None:
            self.check_state(after, settings)
        if before is not None and after is not before:
            self.check_transition(before, after)
        self.check_answer(request, now, after, answer)
        self.remember(request, after, answer)

    def check_change(self, before, after, answer):
        assert (after == before) == (after is before)
        if isinstance(answer, NeedsId) or (isinstance(answer, Answer) and answer.error):
            assert after is before

    def check_state(self, one, settings):
        packed = pack(one)
        assert unpack(packed) == one
        assert len(packed) <= settings.most_bytes
        assert not one.is_decided or one.state not in IDLE
        if one.state in IDLE:
            assert not one.partitions
            assert not one.groups
        assert 0 <= one.epoch <= LAST + one.is_decided
        assert (one.epoch > LAST) == (one.next_producer_id >= 0)

    def check_transition(self, before, after):
        assert after.state in TRANSITIONS[before.state]
        ends = after.state in ENDED
        assert after.serial == before.serial + ends
        if after.producer_id == before.producer_id:
            assert after.epoch >= before.epoch
        else:
            assert after.epoch == 0
            is_new = all(after.producer_id != producer_id for producer_id, _ in self.given)
            assert is_new or after.producer_id == before.next_producer_id
        if before.state is State.ONGOING:
            assert after.partitions >= before.partitions
            assert after.groups >= before.groups
            assert after.timeout_ms == before.timeout_ms
        if after.is_decided:
            assert (after.partitions, after.groups) == (before.partitions, before.groups)
            self.decide(before.serial, after.state in COMMITS)
        elif ends and not before.is_decided:
            self.decide(before.serial, False)

    def decide(self, serial, commit):
        assert serial not in self.commits
        self.commits[serial] = commit

    def check_answer(self, request, now, after, answer):
        if isinstance(answer, Unfinished):
            assert after.is_decided
            assert answer.serial == after.serial
        if isinstance(request, Expire) and after is not None and after.state is State.ONGOING:
            assert not isinstance(answer, Answer) or now < after.expires_at
            assert after.expires_at <= now + after.timeout_ms + SKEW_MS
        if not isinstance(answer, Answer) or answer.error:
            return
        if hasattr(request, "epoch") and not isinstance(request, Init):
            assert (request.producer_id, request.epoch) not in self.fenced
        if isinstance(request, EndTransaction):
            assert self.commits[answer.serial] == request.commit
        if isinstance(request, AddPartitions | Verify):
            self.check_holds(after, request, answer, request.partitions <= after.partitions)
        if isinstance(request, AddGroup | VerifyGroup):
            self.check_holds(after, request, answer, request.group_id in after.groups)

    def check_holds(self, after, request, answer, holds):
        assert holds
        assert after.state is State.ONGOING
        assert answer.serial == after.serial
        assert (request.producer_id, request.epoch) == (after.producer_id, after.epoch)

    def remember(self, request, after, answer):
        if after is not None and after.is_decided:
            self.used.add((after.producer_id, after.marker_epoch))
        if not isinstance(answer, Answer) or answer.error or answer.producer_id < 0:
            return
        pair = (answer.producer_id, answer.epoch)
        if isinstance(request, Init) and request.producer_id == -1:
            assert all(pair > other for other in self.used if other[0] == pair[0])
            self.fenced |= self.given
        assert pair not in self.fenced
        self.given.add(pair)
        self.used.add(pair)
