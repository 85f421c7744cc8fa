"""Injects faults, chosen by a seed, that a client of API Gateway has to expect anyway.

Delays are drawn for each invocation, so messages of one connection overtake one another.
"""

import random
from dataclasses import dataclass, field


@dataclass(slots=True)
class Chaos:
    drop: float = 0.0
    """The share of messages after which the connection breaks without a close frame."""
    kill: float = 0.0
    """The share of invocations whose environment is killed while it works."""
    delay_s: float = 0.0
    """The longest delay before an invocation."""
    kill_within_s: float = 0.02
    seed: int = 0
    dice: random.Random = field(init=False)

    def __post_init__(self) -> None:
        self.dice = random.Random(self.seed)  # noqa: S311  # repeatable

    def drops(self) -> bool:
        return self.dice.random() < self.drop

    def delay(self) -> float:
        return self.dice.uniform(0, self.delay_s) if self.delay_s else 0.0

    def moment(self) -> float:
        """After how many seconds a connection breaks."""
        return self.dice.uniform(0, max(self.delay_s, self.kill_within_s))

    def death(self) -> float | None:
        """After how many seconds this invocation is killed; None if it is not."""
        return self.dice.uniform(0, self.kill_within_s) if self.dice.random() < self.kill else None
