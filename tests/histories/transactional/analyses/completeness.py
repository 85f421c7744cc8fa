"""All of what is committed is there in the end, and of each transaction all or nothing."""

from collections.abc import Iterator

from histories.transactional.analyses.places import committed_places
from histories.transactional.learning import Anomaly, Knowledge, Outcome


def lost_writes(known: Knowledge) -> Iterator[Anomaly]:
    """A committed value whose place a reader passed, and did not see it."""
    places = known.places()
    for partition, values in committed_places(known).items():
        for offset, value in sorted(values.items()):
            if value in places:
                continue  # others saw it: then it is a skipped poll
            passed = [one.by for one in known.sessions.values() if one.passed(partition) > offset]
            if passed:
                said = f"{value} in {partition} at {offset}, passed by {', '.join(passed[:3])}"
                yield Anomaly("lost write", said)


def unseen(known: Knowledge) -> Iterator[Anomaly]:
    """A committed value that the last look does not find."""
    there = known.finally_seen()
    for transaction in known.transactions.values():
        if transaction.outcome is Outcome.COMMITTED:
            for send in transaction.sends:
                if send.value not in there:
                    yield Anomaly("unseen", f"{send.value} in {send.partition}")


def vanished(known: Knowledge) -> Iterator[Anomaly]:
    """A value that somebody read, and the last look does not find."""
    there = known.finally_seen()
    for value in sorted(known.places().keys() - there):
        yield Anomaly("vanished", value)


def torn(known: Knowledge) -> Iterator[Anomaly]:
    """A transaction of which a part is there in the end."""
    there = known.finally_seen()
    for transaction in known.transactions.values():
        found = [send.value for send in transaction.sends if send.value in there]
        if found and len(found) < len(transaction.sends):
            missing = [send.value for send in transaction.sends if send.value not in there]
            said = f"{transaction.name} ({transaction.outcome.value}): {found} without {missing}"
            yield Anomaly("torn transaction", said)


def stuck(known: Knowledge) -> Iterator[Anomaly]:
    """All clients are gone and the transaction timeout is over, and readers are still held back."""
    for partition, ends in known.ends.items():
        if ends.stable != ends.high:
            said = f"{partition}: readers see up to {ends.stable} of {ends.high}"
            yield Anomaly("stuck", said)
        for session in known.last_looks:
            if session.passed(partition) < ends.stable:
                said = f"{partition}: {session.by} came to {session.passed(partition)}"
                yield Anomaly("stuck", f"{said} of {ends.stable}")


def refused(known: Knowledge) -> Iterator[Anomaly]:
    """A reader was told that its offset is not in the log."""
    for said in known.refused:
        yield Anomaly("refused poll", said)
