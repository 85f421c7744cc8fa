"""Every kind of request in every state, as Apache Kafka 4.3.1 answers it.

`wait` is CONCURRENT_TRANSACTIONS in Kafka: here the decided transaction is finished first. The rows
of EndTxn are those of the table in Kafka's TransactionCoordinator.
"""

import pytest
from unit.transactions.given import EPOCH, ID, LAST, ONE, TIMEOUT, TWO, Shell, found

from samsa import transactions

BEFORE, STALE, AHEAD = EPOCH - 1, EPOCH - 2, EPOCH + 1
ONES, TWOS = frozenset({ONE}), frozenset({TWO})
REQUESTS = {
    "init": transactions.Init(TIMEOUT),
    "init no-time": transactions.Init(0),
    "init too-long": transactions.Init(900_001),
    "init half-an-id": transactions.Init(TIMEOUT, ID),
    "init half-an-epoch": transactions.Init(TIMEOUT, -1, EPOCH),
    "recover current": transactions.Init(TIMEOUT, ID, EPOCH),
    "recover before": transactions.Init(TIMEOUT, ID, BEFORE),
    "recover stale": transactions.Init(TIMEOUT, ID, STALE),
    "recover ahead": transactions.Init(TIMEOUT, ID, AHEAD),
    "recover other-id": transactions.Init(TIMEOUT, ID + 1, EPOCH),
    "recover other-before": transactions.Init(TIMEOUT, ID + 1, BEFORE),
    "add current": transactions.AddPartitions(ID, EPOCH, TWOS),
    "add again": transactions.AddPartitions(ID, EPOCH, ONES),
    "add before": transactions.AddPartitions(ID, BEFORE, TWOS),
    "add ahead": transactions.AddPartitions(ID, AHEAD, TWOS),
    "add other-id": transactions.AddPartitions(ID + 1, EPOCH, TWOS),
    "group current": transactions.AddGroup(ID, EPOCH, "h"),
    "group before": transactions.AddGroup(ID, BEFORE, "h"),
    "group other-id": transactions.AddGroup(ID + 1, EPOCH, "h"),
    "verify held": transactions.Verify(ID, EPOCH, ONES),
    "verify not-held": transactions.Verify(ID, EPOCH, TWOS),
    "verify some-held": transactions.Verify(ID, EPOCH, ONES | TWOS),
    "verify before": transactions.Verify(ID, BEFORE, ONES),
    "verify other-id": transactions.Verify(ID + 1, EPOCH, ONES),
    "verify-group held": transactions.VerifyGroup(ID, EPOCH, "g"),
    "verify-group not-held": transactions.VerifyGroup(ID, EPOCH, "h"),
    "commit-1 current": transactions.EndTransaction(ID, EPOCH, True, False),
    "commit-1 before": transactions.EndTransaction(ID, BEFORE, True, False),
    "commit-1 ahead": transactions.EndTransaction(ID, AHEAD, True, False),
    "commit-1 other-id": transactions.EndTransaction(ID + 1, EPOCH, True, False),
    "abort-1 current": transactions.EndTransaction(ID, EPOCH, False, False),
    "abort-1 before": transactions.EndTransaction(ID, BEFORE, False, False),
    "commit-2 current": transactions.EndTransaction(ID, EPOCH, True, True),
    "commit-2 before": transactions.EndTransaction(ID, BEFORE, True, True),
    "commit-2 no-epoch": transactions.EndTransaction(ID, -1, True, True),
    "commit-2 stale": transactions.EndTransaction(ID, STALE, True, True),
    "commit-2 ahead": transactions.EndTransaction(ID, AHEAD, True, True),
    "commit-2 last-epoch": transactions.EndTransaction(ID, LAST, True, True),
    "commit-2 other-id": transactions.EndTransaction(ID + 1, EPOCH, True, True),
    "commit-2 other-before": transactions.EndTransaction(ID + 1, BEFORE, True, True),
    "abort-2 current": transactions.EndTransaction(ID, EPOCH, False, True),
    "abort-2 before": transactions.EndTransaction(ID, BEFORE, False, True),
    "abort-2 stale": transactions.EndTransaction(ID, STALE, False, True),
    "abort-2 other-id": transactions.EndTransaction(ID + 1, EPOCH, False, True),
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
    [transactions.State.EMPTY],
    [transactions.State.ONGOING],
    [transactions.State.PREPARE_COMMIT, transactions.State.PREPARE_ABORT],
    [transactions.State.COMPLETE_COMMIT],
    [transactions.State.COMPLETE_ABORT],
]
ERRORS = {
    "TIMEOUT": transactions.TransactionError.INVALID_TRANSACTION_TIMEOUT,
    "REQUEST": transactions.TransactionError.INVALID_REQUEST,
    "MAPPING": transactions.TransactionError.INVALID_PRODUCER_ID_MAPPING,
    "FENCED": transactions.TransactionError.PRODUCER_FENCED,
    "STATE": transactions.TransactionError.INVALID_TXN_STATE,
    "ABORTABLE": transactions.TransactionError.TRANSACTION_ABORTABLE,
}


def cases():
    for line in TABLE.splitlines()[2:]:
        *name, _, _, _, _, _, _ = words = line.split()
        for states, expected in zip(COLUMNS, words[-len(COLUMNS) :], strict=True):
            for state in states:
                label = "unknown" if state is None else state.value
                yield pytest.param(" ".join(name), state, expected, id=f"{label}-{' '.join(name)}")


def shown(answer):
    if isinstance(answer, transactions.NeedsId):
        return "id"
    if isinstance(answer, transactions.Unfinished):
        return "wait"
    names = {error: name for name, error in ERRORS.items()}
    return "ok" if answer.error is None else names[answer.error]


@pytest.mark.parametrize(("name", "state", "expected"), list(cases()))
def test_a_request_is_answered_as_kafka_answers_it_in_this_state(name, state, expected):
    before = None if state is None else found(state)
    shell = Shell(before)
    answer = shell.once(REQUESTS[name])
    assert shown(answer) == expected
    if isinstance(answer, transactions.Answer) and answer.error:
        assert shell.transaction is before
        assert answer == transactions.Answer(answer.error)


def test_the_table_has_every_request():
    assert {case.values[0] for case in cases()} == set(REQUESTS)


@pytest.mark.parametrize("commit", [True, False])
@pytest.mark.parametrize("name", REQUESTS)
def test_what_waited_for_a_decided_transaction_is_answered_as_after_it(name, commit):
    """Nothing is judged too early, and nothing waits twice."""
    waiting = Shell(found(transactions.State.ONGOING, epoch=EPOCH - 1))
    waiting.once(transactions.EndTransaction(ID, EPOCH - 1, commit, True))
    after = Shell(waiting.transaction)
    after.finish()
    assert waiting.ask(REQUESTS[name]) == after.ask(REQUESTS[name])
    assert waiting.transaction == after.transaction
