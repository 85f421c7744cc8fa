"""What goes wrong in a schedule, and how often: all of it follows from the seed.

Each kind of fault is on in about half of the schedules, so that rare combinations get whole
schedules of their own instead of drowning in noise.
"""

from dataclasses import dataclass
from enum import Enum
from random import Random


class Fault(Enum):
    REFUSED = "unavailable, without the effect"
    LOST = "unavailable, after the effect"
    LATE = "unavailable, and the effect comes later"
    CRASH = "the process stops after the effect"
    TORN = "unavailable between two steps"


PROTOCOL = ("update_head", "head_state", "put_if_absent", "index", "commit")
CALLS = (
    *PROTOCOL,
    *PROTOCOL,
    *("head", "extents", "get", "piece", "take_out", "count_sweep", "list"),
    *("producer", "producer_item", "store_producer", "evict", "sweeps", "holds"),
    *("advance_start", "drop_extents", "delete"),
    *("replace_extents", "announce", "put_stream", "condemn", "pending_deletions"),
)

TRANSACTIONS = ("put_transaction", "transaction", "add_pending", "end_pending")
FOR_TRANSACTIONS = (*TRANSACTIONS, *TRANSACTIONS, *PROTOCOL, "store_aborted", "aborted")


@dataclass
class Weather:
    refused: float
    lost: float
    late: float
    crash: float
    torn: float
    sleep: float
    brittle: str
    """The call that fails far more often than the others."""
    sleepy: frozenset[str]
    """The calls that take far longer than the others."""
    crashes_left: int
    calm: bool = False

    @classmethod
    def of(cls, rng: Random) -> "Weather":
        def sometimes(*chances: float) -> float:
            return rng.choice((0.0,) * len(chances) + chances)

        sleepy = rng.sample(CALLS, rng.choice((0, 1, 2, 4)))
        return cls(
            refused=sometimes(0.02, 0.1),
            lost=sometimes(0.02, 0.1),
            late=sometimes(0.02, 0.08),
            crash=sometimes(0.005, 0.02),
            torn=sometimes(0.1, 0.4),
            sleep=rng.choice((0.0, 0.01, 0.03)),
            brittle=rng.choice(sleepy or CALLS),
            sleepy=frozenset(sleepy),
            crashes_left=3,
        )

    def over_transactions(self, rng: Random) -> None:
        """In half of the schedules that have some, their own calls suffer most."""
        if rng.random() < 0.5:
            self.brittle = rng.choice(FOR_TRANSACTIONS)
            self.sleepy |= frozenset(rng.sample(FOR_TRANSACTIONS, rng.choice((0, 1))))

    def fault(self, rng: Random, name: str, steps: bool) -> Fault | None:
        if self.calm:
            return None
        draw = rng.random() / (5 if name == self.brittle else 1)
        if draw > self.refused + self.lost + self.late + self.crash + self.torn:
            return None
        for fault, chance in (
            (Fault.REFUSED, self.refused),
            (Fault.LOST, self.lost),
            (Fault.LATE, self.late),
            (Fault.CRASH, self.crash if self.crashes_left else 0.0),
            (Fault.TORN, self.torn if steps else 0.0),
        ):
            if draw < chance:
                self.crashes_left -= fault is Fault.CRASH
                return fault
            draw -= chance
        return None

    def sleeps(self, rng: Random, name: str) -> bool:
        chance = 0.25 if name in self.sleepy else self.sleep
        return not self.calm and rng.random() < chance
