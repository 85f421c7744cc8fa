"""The requests of one client connection, from a frame to its answer.

A produce that differs from an earlier one of its connection only in its records takes a shorter
way: it is neither decoded nor given to a handler (`data_path/produce_template.py`).
"""

from collections.abc import Coroutine
from typing import Any

from samsa.broker.broker import Answer, Broker, Later
from samsa.data_path.produce_template import ProduceTemplates
from samsa.dispatch import answer
from samsa.handlers.k00_produce import produce_alike
from samsa.security.access import UNLIMITED, Access
from samsa.security.throttling import ClientThrottle
from samsa.wire.apis import ApiKey
from samsa.wire.frame import KafkaRequest

OVERLAP = frozenset({ApiKey.PRODUCE})
"""The next request may be handled while the answer to one of these is under way."""
MAY_PARK = frozenset({ApiKey.FETCH, ApiKey.JOIN_GROUP, ApiKey.SYNC_GROUP})
"""They wait for other clients. A client that has gone needs no answer, so the wait may end."""
HEARTBEATS = frozenset({ApiKey.HEARTBEAT, ApiKey.CONSUMER_GROUP_HEARTBEAT})


class ClientRequests:
    def __init__(
        self,
        broker: Broker,
        address: tuple[str, int],
        client_host: str,
        access: Access = UNLIMITED,
    ) -> None:
        """`address` is the one at which the client reached this process."""
        self.access = access
        """What the client may do. Replaced when it authenticates; requests that have begun keep
        what they began with."""
        self._broker = broker
        self._address = address
        self._client_host = client_host
        self._templates = ProduceTemplates()

    @property
    def has_produced(self) -> bool:
        """To one partition at a time, as producers do that write a little."""
        return len(self._templates) > 0

    def begin_alike(self, frame: memoryview) -> tuple[KafkaRequest, Later] | None:
        """Begin a produce that is like an earlier one. None: the frame has to be read and answered
        as usual."""
        one = self._templates.find(frame)
        later = None if one is None else produce_alike(one, self._broker, self.access)
        return None if one is None or later is None else (one.request, later)

    def answer(self, request: KafkaRequest) -> Coroutine[Any, Any, Answer]:
        """Raises DecodeError; Unavailable."""
        broker, access = self._broker, self.access
        throttle = None if broker.throttling is None else self.throttle(request)
        return answer(request, self._address, broker, self._client_host, access, throttle=throttle)

    def throttle(self, request: KafkaRequest) -> ClientThrottle | None:
        """None: there are no quotas."""
        throttling = self._broker.throttling
        if throttling is None:
            return None
        return ClientThrottle(throttling, self.access.principal.name, request.client_id or "")

    def learn(self, request: KafkaRequest, later: Later) -> None:
        """From now on, produces that are like this one may take the shorter way."""
        if later.alone is not None:
            self._templates.learn(request, later.alone)
