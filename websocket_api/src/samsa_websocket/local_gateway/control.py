"""/_local, which AWS does not have: reads counters, and sets the faults to inject."""

import json
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from .chaos import Chaos
from .environments import EnvironmentPool
from .gateway import LocalGateway
from .stores.meter import StoreUse

CHANCES = ("drop", "kill", "delay_s", "kill_within_s")


class Control:
    def __init__(
        self,
        gateway: LocalGateway,
        pools: dict[str, EnvironmentPool],
        chaos: Chaos,
        used: StoreUse | None = None,
    ) -> None:
        """`used`: what the embedded stores were asked, if there are any."""
        self._used = used
        self._gateway = gateway
        self._pools = pools
        self._chaos = chaos

    async def stats(self, _: Request) -> Response:
        started = {name: pool.started for name, pool in self._pools.items()}
        counts: dict[str, Any] = dict(self._gateway.stats.read())
        if self._used is not None:
            counts["stores"] = self._used.read()
        return JSONResponse({**counts, "open": len(self._gateway.connections), "started": started})

    async def weather(self, request: Request) -> Response:
        """Set new probabilities; `drop_all` and `kill_all` act at once."""
        asked: dict[str, Any] = json.loads(await request.body())
        unknown = sorted(set(asked) - {*CHANCES, "drop_all", "kill_all"})
        if unknown:
            return JSONResponse({"message": f"there is no {unknown[0]!r}"}, 400)
        if asked.pop("drop_all", False):
            for connection in list(self._gateway.connections.values()):
                connection.abort()
        if asked.pop("kill_all", False):
            for pool in self._pools.values():
                pool.kill_all()
        for name, value in asked.items():
            setattr(self._chaos, name, float(value))
        return JSONResponse({})
