"""Lambda proxy integration: an event in, the function's answer out, within the integration's time.

A function that takes longer goes on, as in AWS: its effects still happen, its answer is lost.
"""

import asyncio
import logging
import time
from typing import Any

from samsa.runtime.logs import event as log_event

from .chaos import Chaos
from .environments import Environment, EnvironmentPool, FunctionFailed
from .events import Event
from .limits import ApiGatewayLimits
from .observer import Observer, Run
from .stats import GatewayStats
from .stores.meter import Meter

log = logging.getLogger("samsa.local_api")


class IntegrationFailed(Exception):
    """With API Gateway's message and status."""

    def __init__(self, status: int, why: str) -> None:
        super().__init__(why)
        self.status = status


class Integration:
    def __init__(
        self,
        pool: EnvironmentPool,
        limits: ApiGatewayLimits,
        chaos: Chaos,
        stats: GatewayStats,
        observer: Observer,
        meter: Meter,
    ) -> None:
        self._observer = observer
        self._meter = meter
        self.pool = pool
        self._limits = limits
        self._chaos = chaos
        self._stats = stats

    async def ask(self, asked: Event) -> dict[str, Any]:
        invocation = asyncio.ensure_future(self.invoke(asked))
        done, _ = await asyncio.wait({invocation}, timeout=self._limits.integration_s)
        if not done:
            invocation.add_done_callback(_ignore)
            raise self._failure(504, "Endpoint request timed out")
        try:
            answer = invocation.result()
        except FunctionFailed as error:
            raise self._failure(502, "Internal server error", error) from error
        if not isinstance(answer, dict) or not isinstance(answer.get("statusCode"), int):
            raise self._failure(502, "Internal server error", "an answer without a statusCode")
        return answer

    def _failure(self, status: int, said: str, why: object = "") -> IntegrationFailed:
        self._stats.failed += 1
        name = self.pool.function.name
        log_event(log, logging.WARNING, "function failed", function=name, why=why or said)
        return IntegrationFailed(status, said)

    async def invoke(self, asked: Event) -> Any:
        """Raises FunctionFailed."""
        await asyncio.sleep(self._chaos.delay())
        self._stats.invocations += 1
        self._stats.running += 1
        began = time.monotonic()
        by: list[tuple[Environment, float]] = []

        def begin(environment: Environment) -> None:
            by.append((environment, time.monotonic()))
            self._doom(environment)

        has_failed = True
        try:
            answer = await self.pool.invoke(asked, begin)
            has_failed = False
            return answer
        finally:
            self._stats.running -= 1
            self._stats.ran(time.monotonic() - began)
            for environment, since in by:
                self._ran(asked, environment, time.monotonic() - since, has_failed)

    def _ran(self, asked: Event, by: Environment, seconds: float, has_failed: bool) -> None:
        function, init_s = self.pool.function, by.init_s
        by.init_s = 0.0
        self._stats.billed(function.memory_mb, init_s + seconds)
        used = self._meter.take(by.access_key)
        self._observer.invoked(
            Run(
                function.name,
                _kind_of(asked),
                function.memory_mb,
                init_s,
                seconds,
                used,
                asked.get("body") or "",
                has_failed,
            )
        )

    def _doom(self, environment: Environment) -> None:
        """Kill this invocation later, if fault injection chooses it."""
        death = self._chaos.death()
        if death is not None:
            asyncio.get_running_loop().call_later(death, self._kill_if_busy, environment)

    def _kill_if_busy(self, environment: Environment) -> None:
        if environment in self.pool.busy:
            environment.kill()


def _kind_of(asked: Event) -> str:
    context = asked.get("requestContext")
    if context is None:
        return "SCHEDULE"
    return str(context.get("eventType", "HTTP"))


def _ignore(invocation: "asyncio.Future[Any]") -> None:
    """No caller waits for it any more: take its exception, so that asyncio does not log it."""
    if not invocation.cancelled():
        invocation.exception()
