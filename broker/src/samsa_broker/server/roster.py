"""Which processes of the cluster live, as far as one of them can see.

A process renews its item every `RENEW_S`. It counts as alive while others see the item change. They
measure this by their own monotonic clocks, so that no wall clock matters. Only an item that is seen
for the first time is judged by the time it carries (`has_passed`): a wrong clock there hides a
living process until its next renewal, or shows a dead one for `TTL_S` at most.

While the ledger cannot be read, no process is taken for dead: that time does not count.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from samsa.ports import Node, has_passed

RENEW_S = 3.0
TTL_S = 10.0
"""Three renewals may be lost. Kafka's `broker.session.timeout.ms` is 9 s."""
TTL_MS = 10_000
LONG_GONE_MS = 60_000


@dataclass(slots=True)
class _Sight:
    node: Node
    """As it was when it last changed."""
    since_s: float
    alive_until_s: float


class Roster:
    def __init__(self) -> None:
        self._sights: dict[int, _Sight] = {}
        self._looked_at_s: float | None = None
        self._missed_a_look = False

    def miss(self) -> None:
        """The ledger did not answer."""
        self._missed_a_look = True

    def see(self, nodes: Sequence[Node], now_ms: int, now_s: float) -> None:
        """All items, as they are now. `now_s` is monotonic."""
        if self._missed_a_look and self._looked_at_s is not None:
            self._skip(now_s - self._looked_at_s)
        self._looked_at_s, self._missed_a_look = now_s, False
        for node_id in self._sights.keys() - {node.id for node in nodes}:
            del self._sights[node_id]
        for node in nodes:
            known = self._sights.get(node.id)
            if known is None:
                self._sights[node.id] = _Sight(node, now_s, now_s + _left_s(node, now_ms))
            elif known.node != node:
                self._sights[node.id] = _Sight(node, now_s, now_s + TTL_S)

    def _skip(self, seconds: float) -> None:
        for sight in self._sights.values():
            sight.since_s += seconds
            sight.alive_until_s += seconds

    def note(self, node: Node, now_s: float) -> None:
        """An item that this process has just written: it counts as alive from now on."""
        self._sights[node.id] = _Sight(node, now_s, now_s + TTL_S)

    def alive(self, now_s: float) -> list[Node]:
        return [sight.node for sight in self._sights.values() if now_s < sight.alive_until_s]

    def is_alive(self, node: Node, now_s: float) -> bool:
        return now_s < self._sights[node.id].alive_until_s

    def has_gone(self, node: Node, now_s: float) -> bool:
        """Whether its item was watched for long enough and did not change."""
        sight = self._sights[node.id]
        return now_s >= sight.alive_until_s and now_s - sight.since_s >= TTL_S


def _left_s(node: Node, now_ms: int) -> float:
    """What is left of the `TTL_S` for which a process counts as alive after a renewal."""
    if has_passed(now_ms, node.renewed_at, TTL_MS):
        return 0.0
    return TTL_S - max(0, now_ms - node.renewed_at) / 1000
