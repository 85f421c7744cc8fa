"""The size of a schedule and the numbers its log works by, drawn from the seed."""

from dataclasses import dataclass
from random import Random

from samsa.log.retain import Retention
from samsa.log.stores import Limits


@dataclass(frozen=True)
class Setting:
    two_steps: bool
    """DynamoDB's confirm; else SQLite's."""
    journal: bool
    """Some processes append at once, as those on one machine do; others may not."""
    processes: int
    partitions: int
    grouped: int
    single: int
    idempotent: int
    readers: int
    fencers: int
    janitors: int
    mergers: int
    deleters: int
    """Administrators who delete records; then retention has no promise to keep."""
    retention: Retention
    limits: Limits
    storm_s: float
    """How long things go wrong."""
    haste: float = 1.0
    """Of those who merge; less is faster."""

    @property
    def skew_ms(self) -> int:
        """How far two clocks may be apart."""
        return self.fence_after_ms + 300

    @property
    def fence_after_ms(self) -> int:
        return self.limits.fence_after_ms

    @classmethod
    def of(cls, rng: Random, seed: int) -> "Setting":
        janitors = rng.choice((0, 1, 1, 2))
        return cls(
            two_steps=seed % 4 in (1, 3),
            journal=seed % 4 == 2,
            processes=rng.choice((1, 2, 2, 3)),
            partitions=rng.choice((1, 1, 1, 2)),
            grouped=rng.choice((0, 1, 2)),
            single=rng.choice((0, 1)),
            idempotent=rng.choice((1, 1, 2)),
            readers=rng.choice((1, 2)),
            fencers=rng.choice((0, 1)),
            janitors=janitors,
            mergers=rng.choice((0, 1, 1, 2)),
            deleters=int(seed % 5 == 4),
            retention=Retention(max_bytes=rng.choice((1, 100, 400)) if janitors else 0),
            limits=Limits(
                fence_after_ms=rng.choice((300, 1_000)),
                slot_bytes=rng.choice((150, 400, 100_000)),
                attempts=rng.choice((2, 4, 6)),
                backoff_ms=20,
                closing_ms=rng.choice((30, 1_000)),
                objects_per_read=rng.choice((2, 256)),
                sweep_grace_ms=rng.choice((0, 0, 200, 1_000)),
                segment_bytes=rng.choice((400, 1_500, 100_000)),
                merge_after_ms=rng.choice((0, 0, 500)),
                building_ms=rng.choice((0, 100, 3_000)),
            ),
            storm_s=rng.choice((5, 10)),
        )
