"""The updates of a head, as expressions of DynamoDB. Each is one UpdateItem, done whole or not.

DynamoDB reads every right side from the item as it was before the update. It takes up to 4 KB of an
expression. So what stands in it for each producer is short: `SHORT` names, and no spaces.
"""

from collections.abc import Iterable, Mapping

from samsa.aws.head_items import (
    aborted_name,
    open_name,
    pack_aborted,
    pack_entry,
    producer_attribute,
)
from samsa.aws.items import Item, number
from samsa.ports.heads import MOST_CLAIMS, MOST_REMOVED, HeadClaim, HeadProducer, HeadUpdate

SHORT = {"#p": "producers", "#b": "producer_bases", "#n": "next_offset"}


class Change:
    """Collects the parts of an update."""

    def __init__(self) -> None:
        self.sets: list[str] = []
        self.removes: list[str] = []
        self.conditions: list[str] = ["attribute_exists(next_offset)"]
        self.names: dict[str, str] = {}
        self.values: Item = {}

    @property
    def update(self) -> str:
        clauses = [("SET", self.sets), ("REMOVE", self.removes)]
        return " ".join(f"{word} {', '.join(parts)}" for word, parts in clauses if parts)

    @property
    def condition(self) -> str:
        return " AND ".join(self.conditions)

    def take_out(self, settled: Mapping[str, int]) -> None:
        """Remove entries that still have those bases. Entries that are gone already do no harm."""
        assert len(settled) <= MOST_REMOVED
        for n, (name, base) in enumerate(settled.items()):
            self.names |= {f"#r{n}": name, f"#a{n}": aborted_name(name)}
            self.values[f":r{n}"] = number(base)
            self.removes += [f"tail.#r{n}", f"bases.#r{n}", f"#a{n}"]
            self.conditions.append(f"(attribute_not_exists(bases.#r{n}) OR bases.#r{n} = :r{n})")

    def claim(self, claims: Iterable[HeadClaim], now_ms: int) -> None:
        for n, held in enumerate(claims):
            assert n < MOST_CLAIMS
            claim, evictions = held.claim, held.evictions
            self.names[f"#p{n}"] = str(claim.producer_id)
            self.values[f":p{n}"] = producer_attribute(claim, now_ms)
            self.names |= SHORT
            self.sets += [f"#p.#p{n}=:p{n}", f"#b.#p{n}=#n"]
            if evictions is None:
                self.values[f":v{n}"] = number(claim.after)
                self.conditions.append(f"#p.#p{n}.v=:v{n}")
            else:
                self.values[":evictions"] = number(evictions)
                self.conditions.append(f"attribute_not_exists(#p.#p{n})")
            self._transaction(n, held)
        if ":evictions" in self.values:
            self.conditions.append("evictions = :evictions")

    def _transaction(self, n: int, held: HeadClaim) -> None:
        """It needs no condition: if the claim holds, so does this (`ports/heads.py`)."""
        if held.opens is not None:
            self.values[f":t{n}"] = number(held.opens)
            self.sets.append(f"#t{n}=#n+:t{n}")
        elif held.closes:
            self.removes.append(f"#t{n}")
        else:
            return
        self.names[f"#t{n}"] = open_name(held.claim.producer_id)

    def list_aborted(self, entry_id: str, claims: Iterable[HeadClaim]) -> None:
        """The entry is the marker of a transaction that is aborted."""
        for claim, *_, aborted in claims:
            if aborted is not None:
                self.names["#aborted"] = aborted_name(entry_id)
                self.values[":aborted"] = {"B": pack_aborted(claim.producer_id, *aborted)}
                self.sets += ["#aborted = :aborted", "aborted_to = next_offset + :count"]


def commit(update: HeadUpdate) -> Change:
    change, entry = Change(), update.entry
    change.names["#id"] = entry.id
    change.values = {":count": number(entry.offsets), ":entry": {"B": pack_entry(entry)}}
    change.sets = [
        "next_offset = next_offset + :count",
        "bases.#id = next_offset",
        "tail.#id = :entry",
    ]
    change.values[":sweeps"] = number(update.sweeps)
    change.conditions += ["attribute_not_exists(tail.#id)", "sweeps = :sweeps"]
    change.claim(update.claims, update.now_ms)
    change.list_aborted(entry.id, update.claims)
    change.take_out(update.settled)
    return change


def eviction(producers: Mapping[int, HeadProducer]) -> Change:
    assert len(producers) <= MOST_REMOVED
    change = Change()
    change.values = {":one": number(1)}
    change.sets = ["evictions = evictions + :one"]
    for n, (producer_id, producer) in enumerate(producers.items()):
        change.names[f"#p{n}"] = str(producer_id)
        change.values[f":v{n}"] = number(producer.bound.version)
        change.removes += [f"producers.#p{n}", f"producer_bases.#p{n}"]
        change.conditions.append(f"producers.#p{n}.v = :v{n}")
    return change
