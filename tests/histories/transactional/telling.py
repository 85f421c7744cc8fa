"""The figures of a run of transactional histories, for people."""

from collections import Counter

from histories.transactional.rounds import Played

OUTCOMES = ("committed", "aborted", "unknown")
CLIENTS = "client: "
ANOMALY = "anomaly: "
HELD_BACK = "held back at most, ms"


def counts_of(played: Played) -> Counter[str]:
    counts = played.verdict.figures + played.signals
    counts.update({f"{ANOMALY}{kind}": count for kind, count in played.verdict.kinds.items()})
    counts[HELD_BACK] = round(1000 * played.held_back_s)
    return counts


def figures(counts: Counter[str]) -> str:
    clients = {what: n for what, n in counts.items() if what.startswith(CLIENTS)}
    anomalies = {what: n for what, n in counts.items() if what.startswith(ANOMALY)}
    parts = [f"{counts[outcome]:,} {outcome}" for outcome in OUTCOMES]
    parts.append(f"{counts['copies']:,} copies")
    parts.append(f"{counts['readings']:,} readings of {counts['values read']:,} values")
    parts.append(f"{counts['killed']} kills, {counts['stopped']} stops of brokers")
    parts.append(", ".join(f"{n} {what[len(CLIENTS) :]}" for what, n in sorted(clients.items())))
    parts.append(f"held back {counts[HELD_BACK] / 1000:.1f} s")
    parts += [f"{n} {what[len(ANOMALY) :]}" for what, n in sorted(anomalies.items())]
    return ", ".join(part for part in parts if part)
