"""What readers with read_committed may see at all."""

from collections.abc import Iterator

from histories.transactional.learning import Anomaly, Knowledge, Outcome


def aborted_reads(known: Knowledge) -> Iterator[Anomaly]:
    """A value of an aborted transaction was read (G1a), by an observer or by one who copied it."""
    for reader, value in _all_read(known):
        if value in known.of_value:
            transaction, _ = known.of_value[value]
            if transaction.outcome is Outcome.ABORTED:
                yield Anomaly("aborted read", f"{reader} read {value}")


def _all_read(known: Knowledge) -> Iterator[tuple[str, str]]:
    for session, _, seen in known.all_seen():
        yield session.by, seen.value
    for transaction in known.transactions.values():
        for send in transaction.sends:
            if send.source is not None:
                yield transaction.by, send.source


def early_reads(known: Knowledge) -> Iterator[Anomaly]:
    """A value was read before its producer called commit."""
    for session, _, seen in known.all_seen():
        if seen.value in known.of_value:
            transaction, _ = known.of_value[seen.value]
            if transaction.commit_at is not None and seen.at < transaction.commit_at:
                yield Anomaly("early read", f"{session.by} read {seen.value}")


def phantoms(known: Knowledge) -> Iterator[Anomaly]:
    """A value was read that nobody sent, or not to this partition."""
    for session, partition, seen in known.all_seen():
        sent = known.of_value.get(seen.value)
        if sent is None or sent[1].partition != partition:
            yield Anomaly("phantom", f"{session.by} read {seen.value} in {partition}")
