"""Every kind of request in every state, as Apache Kafka 4.3.1 answers it.

`wait` is CONCURRENT_TRANSACTIONS in Kafka: here the decided transaction is finished first. The rows
of EndTxn are those of the table in Kafka's TransactionCoordinator.
"""

import pytest
from unit.transactions.given import EPOCH, ID, LAST, ONE, TIMEOUT, TWO, Shell, found

from samsa.transactions import (
    AddGroup,
    AddPartitions,
    Answer,
    EndTransaction,
    Init,
    NeedsId,
    State,
    TransactionError,
    Unfinished,
    Verify,
    VerifyGroup,
)

BEFORE, STALE, AHEAD = EPOCH - 1, EPOCH - 2, EPOCH + 1
ONES, TWOS = frozenset({ONE}), frozenset({TWO})
REQUESTS = {
    "init": Init(TIMEOUT),
    "init no-time": Init(0),
    "init too-long": Init(900_001),
    "init half-an-id": Init(TIMEOUT, ID),
    "init half-an-epoch": Init(TIMEOUT, -1, EPOCH),
    "recover current": Init(TIMEOUT, ID, EPOCH),
    "recover before": Init(TIMEOUT, ID, BEFORE),
    "recover stale": Init(TIMEOUT, ID, STALE),
    "recover ahead": Init(TIMEOUT, ID, AHEAD),
    "recover other-id": Init(TIMEOUT, ID + 1, EPOCH),
    "recover other-before": Init(TIMEOUT, ID + 1, BEFORE),
    "add current": AddPartitions(ID, EPOCH, TWOS),
    "add again": AddPartitions(ID, EPOCH, ONES),
    "add before": AddPartitions(ID, BEFORE, TWOS),
    "add ahead": AddPartitions(ID, AHEAD, TWOS),
    "add other-id": AddPartitions(ID + 1, EPOCH, TWOS),
    "group current": AddGroup(ID, EPOCH, "h"),
    "group before": AddGroup(ID, BEFORE, "h"),
    "group other-id": AddGroup(ID + 1, EPOCH, "h"),
    "verify held": Verify(ID, EPOCH, ONES),
    "verify not-held": Verify(ID, EPOCH, TWOS),
    "verify some-held": Verify(ID, EPOCH, ONES | TWOS),
    "verify before": Verify(ID, BEFORE, ONES),
    "verify other-id": Verify(ID + 1, EPOCH, ONES),
    "verify-group held": VerifyGroup(ID, EPOCH, "g"),
    "verify-group not-held": VerifyGroup(ID, EPOCH, "h"),
    "commit-1 current": EndTransaction(ID, EPOCH, True, False),
    "commit-1 before": EndTransaction(ID, BEFORE, True, False),
    "commit-1 ahead": EndTransaction(ID, AHEAD, True, False),
    "commit-1 other-id": EndTransaction(ID + 1, EPOCH, True, False),
    "abort-1 current": EndTransaction(ID, EPOCH, False, False),
    "abort-1 before": EndTransaction(ID, BEFORE, False, False),
    "commit-2 current": EndTransaction(ID, EPOCH, True, True),
    "commit-2 before": EndTransaction(ID, BEFORE, True, True),
    "commit-2 no-epoch": EndTransaction(ID, -1, True, True),
    "commit-2 stale": EndTransaction(ID, STALE, True, True),
    "commit-2 ahead": EndTransaction(ID, AHEAD, True, True),
    "commit-2 last-epoch": EndTransaction(ID, LAST, True, True),
    "commit-2 other-id": EndTransaction(ID + 1, EPOCH, True, True),
    "commit-2 other-before": EndTransaction(ID + 1, BEFORE, True, True),
    "abort-2 current": EndTransaction(ID, EPOCH, False, True),
    "abort-2 before": EndTransaction(ID, BEFORE, False, True),
    "abort-2 stale": EndTransaction(ID, STALE, False, True),
    "abort-2 other-id": EndTransaction(ID + 1, EPOCH, False, True),
}
"""`-1` and `-2`: the version of the transaction; the second bumps the epoch at each end."""

TABLE = """
                          -         Empty     Ongoing   Prepare…  C…Commit  C…Abort
    init                  id        ok        wait      wait      ok        ok
    init no-time          TIMEOUT   TIMEOUT   TIMEOUT   TIMEOUT   TIMEOUT   TIMEOUT
    init too-long         TIMEOUT   TIMEOUT   TIMEOUT   TIMEOUT   TIMEOUT   TIMEOUT
    init half-an-id       REQUEST   REQUEST   REQUEST   REQUEST   REQUEST   REQUEST
    init half-an-epoch    REQUEST   REQUEST   REQUEST   REQUEST   REQUEST   REQUEST
    recover current       id        ok        wait      wait      ok        ok
    recover before        id        ok        FENCED    wait      ok        ok
    recover stale         id        FENCED    FENCED    wait      FENCED    FENCED
    recover ahead         id        FENCED    FENCED    wait      FENCED    FENCED
    recover other-id      id        FENCED    FENCED    wait      FENCED    FENCED
    recover other-before  id        FENCED    FENCED    wait      FENCED    FENCED
    add current           MAPPING   ok        ok        wait      ok        ok
    add again             MAPPING   ok        ok        wait      ok        ok
    add before            MAPPING   FENCED    FENCED    wait      FENCED    FENCED
    add ahead             MAPPING   FENCED    FENCED    wait      FENCED    FENCED
    add other-id          MAPPING   MAPPING   MAPPING   wait      MAPPING   MAPPING
    group current         MAPPING   ok        ok        wait      ok        ok
    group before          MAPPING   FENCED    FENCED    wait      FENCED    FENCED
    group other-id        MAPPING   MAPPING   MAPPING   wait      MAPPING   MAPPING
    verify held           MAPPING   ABORTABLE ok        wait      ABORTABLE ABORTABLE
    verify not-held       MAPPING   ABORTABLE ABORTABLE wait      ABORTABLE ABORTABLE
    verify some-held      MAPPING   ABORTABLE ABORTABLE wait      ABORTABLE ABORTABLE
    verify before         MAPPING   FENCED    FENCED    wait      FENCED    FENCED
    verify other-id       MAPPING   MAPPING   MAPPING   wait      MAPPING   MAPPING
    verify-group held     MAPPING   ABORTABLE ok        wait      ABORTABLE ABORTABLE
    verify-group not-held MAPPING   ABORTABLE ABORTABLE wait      ABORTABLE ABORTABLE
    commit-1 current      MAPPING   STATE     ok        wait      ok        STATE
    commit-1 before       MAPPING   FENCED    FENCED    wait      FENCED    FENCED
    commit-1 ahead        MAPPING   FENCED    FENCED    wait      FENCED    FENCED
    commit-1 other-id     MAPPING   MAPPING   MAPPING   wait      MAPPING   MAPPING
    abort-1 current       MAPPING   STATE     ok        wait      STATE     ok
    abort-1 before        MAPPING   FENCED    FENCED    wait      FENCED    FENCED
    commit-2 current      MAPPING   STATE     ok        wait      STATE     STATE
    commit-2 before       MAPPING   FENCED    FENCED    wait      ok        STATE
    commit-2 no-epoch     MAPPING   FENCED    FENCED    wait      FENCED    FENCED
    commit-2 stale        MAPPING   FENCED    FENCED    wait      FENCED    FENCED
    commit-2 ahead        MAPPING   FENCED    FENCED    wait      FENCED    FENCED
    commit-2 last-epoch   MAPPING   FENCED    FENCED    wait      FENCED    FENCED
    commit-2 other-id     MAPPING   MAPPING   MAPPING   wait      MAPPING   MAPPING
    commit-2 other-before MAPPING   MAPPING   MAPPING   wait      MAPPING   MAPPING
    abort-2 current       MAPPING   ok        ok        wait      ok        ok
    abort-2 before        MAPPING   FENCED    FENCED    wait      STATE     ok
    abort-2 stale         MAPPING   FENCED    FENCED    wait      FENCED    FENCED
    abort-2 other-id      MAPPING   MAPPING   MAPPING   wait      MAPPING   MAPPING
"""
COLUMNS = [
    [None],
    [State.EMPTY],
    [State.ONGOING],
    [State.PREPARE_COMMIT, State.PREPARE_ABORT],
    [State.COMPLETE_COMMIT],
    [State.COMPLETE_ABORT],
]
ERRORS = {
    "TIMEOUT": TransactionError.INVALID_TRANSACTION_TIMEOUT,
    "REQUEST": TransactionError.INVALID_REQUEST,
    "MAPPING": TransactionError.INVALID_PRODUCER_ID_MAPPING,
    "FENCED": TransactionError.PRODUCER_FENCED,
    "STATE": TransactionError.INVALID_TXN_STATE,
    "ABORTABLE": TransactionError.TRANSACTION_ABORTABLE,
}


def cases():
    for line in TABLE.splitlines()[2:]:
        *name, _, _, _, _, _, _ = words = line.split()
        for states, expected in zip(COLUMNS, words[-len(COLUMNS) :], strict=True):
            for state in states:
                label = "unknown" if state is None else state.value
                yield pytest.param(" ".join(name), state, expected, id=f"{label}-{' '.join(name)}")


def shown(answer):
    if isinstance(answer, NeedsId):
        return "id"
    if isinstance(answer, Unfinished):
        return "wait"
    names = {error: name for name, error in ERRORS.items()}
    return "ok" if answer.error is None else names[answer.error]


@pytest.mark.parametrize(("name", "state", "expected"), list(cases()))
def test_a_request_is_answered_as_kafka_answers_it_in_this_state(name, state, expected):
    before = None if state is None else found(state)
    shell = Shell(before)
    answer = shell.once(REQUESTS[name])
    assert shown(answer) == expected
    if isinstance(answer, Answer) and answer.error:
        assert shell.transaction is before
        assert answer == Answer(answer.error)


def test_the_table_has_every_request():
    assert {case.values[0] for case in cases()} == set(REQUESTS)


@pytest.mark.parametrize("commit", [True, False])
@pytest.mark.parametrize("name", REQUESTS)
def test_what_waited_for_a_decided_transaction_is_answered_as_after_it(name, commit):
    """Nothing is judged too early, and nothing waits twice."""
    waiting = Shell(found(State.ONGOING, epoch=EPOCH - 1))
    waiting.once(EndTransaction(ID, EPOCH - 1, commit, True))
    after = Shell(waiting.transaction)
    after.finish()
    assert waiting.ask(REQUESTS[name]) == after.ask(REQUESTS[name])
    assert waiting.transaction == after.transaction
