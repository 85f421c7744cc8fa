"""Bad weather, on purpose and by a seed: what a client of API Gateway must live with anyway.

Delays are drawn per invocation, so messages of one connection overtake one another.
"""

import random
from dataclasses import dataclass, field


@dataclass(slots=True)
class Chaos:
    drop: float = 0.0
    """Of all messages, the part after which the connection breaks without a word."""
    kill: float = 0.0
    """Of all invocations, the part whose environment is killed while it works."""
    delay_s: float = 0.0
    """At most, before an invocation."""
    kill_within_s: float = 0.02
    seed: int = 0
    dice: random.Random = field(init=False)

    def __post_init__(self) -> None:
        self.dice = random.Random(self.seed)

    def drops(self) -> bool:
        return self.dice.random() < self.drop

    def delay(self) -> float:
        return self.dice.uniform(0, self.delay_s) if self.delay_s else 0.0

    def moment(self) -> float:
        """When a connection that breaks does so."""
        return self.dice.uniform(0, max(self.delay_s, self.kill_within_s))

    def death(self) -> float | None:
        """How long this invocation has to live, if it is one that is killed."""
        return self.dice.uniform(0, self.kill_within_s) if self.dice.random() < self.kill else None
