"""The size of a schedule and the numbers its log works by, drawn from the seed."""

from dataclasses import dataclass, replace
from enum import Enum
from random import Random

from samsa.log.retain import Retention
from samsa.log.stores import Limits

ONE_IN = 3
"""Schedules that have transactions."""


class Kind(Enum):
    """Which journal the processes append through."""

    HEADS = "heads in DynamoDB, objects on S3"
    OBJECTS = "a SQLite ledger, objects elsewhere"
    PACKS = "a SQLite ledger, packs in a folder"


@dataclass(frozen=True)
class Bounds:
    """Of heads: as `ports/bounds.py`, but so that a short schedule reaches them."""

    inline_bytes: int
    few_entries: int
    few_producers: int
    most_producers: int
    idle_producer_ms: int
    pack_bytes: int

    @classmethod
    def of(cls, rng: Random, wide: bool) -> "Bounds":
        return cls(
            inline_bytes=rng.choice((0, 0, 100) if wide else (0, 100, 100, 4096)),
            few_entries=rng.choice((1, 2, 4, 16)),
            few_producers=rng.choice((0, 0, 1, 16)),
            most_producers=rng.choice((0, 1, 256)),
            idle_producer_ms=rng.choice((-1, 100, 1_000)),
            pack_bytes=rng.choice((100, 300, 1_000)),
        )


@dataclass(frozen=True)
class Setting:
    kind: Kind
    processes: int
    partitions: int
    grouped: int
    single: int
    idempotent: int
    readers: int
    janitors: int
    mergers: int
    deleters: int
    """Administrators who delete records; then retention has no promise to keep."""
    retention: Retention
    limits: Limits
    bounds: Bounds
    long_ms: int
    """How long something takes that takes long: clocks differ by that, too."""
    storm_s: float
    """How long things go wrong."""
    transactional: int = 0
    """Transactional producers."""
    version: int = 0
    """Of transactions; 0: each producer has one or the other."""
    rivals: bool = False
    """Two of them have the same id."""
    haste: float = 1.0
    """Of those who merge; less is faster."""

    @property
    def skew_ms(self) -> int:
        """How far two clocks may be apart."""
        return self.long_ms + 300

    @property
    def remote(self) -> bool:
        return self.kind is Kind.HEADS

    @classmethod
    def of(cls, rng: Random, seed: int) -> "Setting":
        drawn = cls._without_transactions(rng, seed)
        if seed % ONE_IN:
            return drawn
        more = Random(f"transactions {seed}")
        return replace(
            drawn,
            grouped=min(drawn.grouped, 1),
            single=0,
            idempotent=more.choice((0, 0, 1)),
            transactional=more.choice((1, 1, 2, 3)),
            rivals=more.random() < 0.2,
            storm_s=max(drawn.storm_s, more.choice((5, 20))),
        )

    @classmethod
    def _without_transactions(cls, rng: Random, seed: int) -> "Setting":
        janitors = rng.choice((0, 1, 1, 2))
        wide = seed % 4 == 3  # so that appends to several partitions meet in one put
        return cls(
            kind=(Kind.OBJECTS, Kind.HEADS, Kind.PACKS, Kind.HEADS)[seed % 4],
            processes=rng.choice((1, 2, 2, 3)),
            partitions=rng.choice((2, 3) if wide else (1, 1, 1, 2)),
            grouped=rng.choice((2, 4) if wide else (0, 1, 2)),
            single=rng.choice((0, 1)),
            idempotent=rng.choice((1, 1, 2)),
            readers=rng.choice((1, 2)),
            janitors=janitors,
            mergers=rng.choice((0, 1, 1, 2)),
            deleters=int(seed % 5 == 4),
            retention=Retention(max_bytes=rng.choice((1, 100, 400)) if janitors else 0),
            limits=Limits(
                commit_bytes=rng.choice((150, 400, 100_000)),
                attempts=rng.choice((2, 4, 6)),
                backoff_ms=20,
                objects_per_read=rng.choice((2, 256)),
                sweep_grace_ms=rng.choice((0, 0, 200, 1_000)),
                segment_bytes=rng.choice((400, 1_500, 100_000)),
                merge_after_ms=rng.choice((0, 0, 500)),
                leave_window_ms=rng.choice((0, 200, 1_000)),
                window_ms=rng.choice((0, 30, 30) if wide else (0, 0, 0, 30)),
                building_ms=rng.choice((0, 100, 3_000)),
            ),
            bounds=Bounds.of(rng, wide),
            long_ms=rng.choice((300, 1_000)),
            storm_s=rng.choice((5, 10)),
        )
