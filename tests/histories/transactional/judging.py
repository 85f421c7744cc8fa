"""The judge of transactional histories: the anomalies that Jepsen looks for in Kafka, in our words.

    python tests/histories/transactional/judging.py build/histories/7-transactions-folder-1.jsonl

Isolation is Kafka's. Markers reach partitions one after the other, so a reader may see a committed
transaction in one partition before it sees it in another. An outcome that nobody knows may be
either, but of all of the transaction.
"""

import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).parents[2]))

from histories.transactional.analyses import completeness, copies, order, places, visibility
from histories.transactional.learning import Anomaly, Knowledge, learn
from histories.transactional.notebook import Line, read_lines

ANALYSES: tuple[Callable[[Knowledge], Iterator[Anomaly]], ...] = (
    visibility.aborted_reads,
    visibility.early_reads,
    visibility.phantoms,
    places.duplicates,
    places.inconsistent_offsets,
    places.misplaced,
    order.out_of_order,
    order.nonmonotonic_polls,
    order.skipped_polls,
    order.ends_that_went_back,
    completeness.lost_writes,
    completeness.unseen,
    completeness.vanished,
    completeness.torn,
    completeness.stuck,
    completeness.refused,
    copies.fractured_copies,
)
SHOWN = 5
"""Of each kind."""


class Verdict(NamedTuple):
    anomalies: list[Anomaly]
    figures: Counter[str]
    """How many transactions ended how, how many values were read, and so on."""

    @property
    def kinds(self) -> Counter[str]:
        return Counter(anomaly.kind for anomaly in self.anomalies)

    @property
    def said(self) -> str:
        parts = []
        for kind, count in self.kinds.items():
            some = [one.said for one in self.anomalies if one.kind == kind][:SHOWN]
            parts.append("\n  ".join([f"{kind}: {count}", *some]))
        return "\n".join(parts) or "no anomaly"


def judge(lines: Iterable[Line]) -> Verdict:
    known = learn(lines)
    anomalies = [anomaly for analysis in ANALYSES for anomaly in analysis(known)]
    return Verdict(anomalies, figures(known))


def figures(known: Knowledge) -> Counter[str]:
    counts = Counter(each.outcome.value for each in known.transactions.values())
    counts["values read"] = sum(1 for _ in known.all_seen())
    counts["readings"] = len(known.sessions)
    counts["values"] = len(known.places())
    counts["copies"] = sum(
        1
        for value in known.finally_seen() & known.of_value.keys()
        if known.of_value[value][1].source is not None
    )
    return counts


def main() -> int:
    verdict = judge(read_lines(Path(sys.argv[1])))
    print(dict(verdict.figures))
    print(verdict.said)
    return 1 if verdict.anomalies else 0


if __name__ == "__main__":
    sys.exit(main())
