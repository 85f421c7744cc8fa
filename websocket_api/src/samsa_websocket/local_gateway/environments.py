"""Functions as Lambda runs them: environments that start when needed and are kept warm.

One environment answers one event at a time. Between two events it is frozen (SIGSTOP), so that work
that a function leaves running stops, as in Lambda. An environment that takes too long, or dies, is
replaced when the next event comes.
"""

import asyncio
import contextlib
import json
import os
import signal
import socket
import sys
import time
import uuid
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from samsa.aws.sigv4 import Keys

from .limits import ApiGatewayLimits
from .stores.embedded import credentials

CHANNEL_BYTES = 1024 * 1024


class FunctionFailed(Exception):
    """The function raised, died, or ran out of time: there is no answer."""


@dataclass(frozen=True, slots=True)
class Function:
    name: str
    folder: Path
    handler: str = "app.handler"
    memory_mb: int = 512
    environment: Mapping[str, str] = field(default_factory=dict)
    issue: Callable[[], Keys] | None = None
    """AWS credentials for each environment; None leaves those of this process."""


class Environment:
    def __init__(
        self,
        process: asyncio.subprocess.Process,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        access_key: str = "",
    ) -> None:
        self.access_key = access_key
        self.init_s = 0.0
        """How long it took to start; 0 again once it has answered an event."""
        self._process = process
        self._reader = reader
        self._writer = writer
        self._killed = False

    @classmethod
    async def start(cls, function: Function, limits: ApiGatewayLimits) -> "Environment":
        ours, theirs = socket.socketpair()
        began = time.monotonic()
        keys = function.issue() if function.issue else None
        with theirs:
            process = await asyncio.create_subprocess_exec(
                sys.executable, "-m", "samsa_websocket.local_gateway.worker",
                str(theirs.fileno()), str(function.folder), function.handler,
                stdin=asyncio.subprocess.DEVNULL,
                stdout=sys.stderr,  # what functions print are logs
                pass_fds=[theirs.fileno()],
                start_new_session=True,  # Ctrl-C is for the parent, which ends this one
                env=_variables(function, keys),
            )  # fmt: skip
        streams = await asyncio.open_connection(sock=ours, limit=CHANNEL_BYTES)
        environment = cls(process, *streams, keys.access_key if keys else "")
        try:
            await environment._answer(limits.init_s)
        except BaseException:
            environment.kill()
            await environment.ended()
            raise
        environment._signal(signal.SIGSTOP)
        environment.init_s = time.monotonic() - began
        return environment

    async def invoke(self, event: Any, context: dict[str, Any], timeout_s: float) -> Any:
        text = json.dumps({"event": event, "context": context}).encode()
        self._signal(signal.SIGCONT)
        self._writer.write(len(text).to_bytes(4, "big") + text)
        answer = await self._answer(timeout_s)
        self._signal(signal.SIGSTOP)
        return answer.get("result")

    async def _answer(self, timeout_s: float) -> dict[str, Any]:
        """After any failure but FunctionRaised, the caller must end this environment."""
        try:
            async with asyncio.timeout(timeout_s):
                head = await self._reader.readexactly(4)
                text = await self._reader.readexactly(int.from_bytes(head, "big"))
        except TimeoutError:
            raise FunctionFailed(f"timed out after {timeout_s:g} s") from None
        except (EOFError, OSError):
            raise FunctionFailed("exited without an answer") from None
        answer: dict[str, Any] = json.loads(text)
        if "error" in answer:
            self._signal(signal.SIGSTOP)
            raise FunctionRaised(answer["error"])
        return answer

    def _signal(self, number: int) -> None:
        with contextlib.suppress(ProcessLookupError):
            self._process.send_signal(number)

    def kill(self) -> None:
        self._killed = True
        self._signal(signal.SIGKILL)

    async def ended(self) -> None:
        self._writer.close()
        await self._process.wait()

    @property
    def alive(self) -> bool:
        return not self._killed and self._process.returncode is None


class FunctionRaised(FunctionFailed):
    """The handler raised; its environment can be used again."""


class EnvironmentPool:
    """The environments of one function.

    If none is idle, an event starts one, and takes the first that is free: the new one, or one that
    has finished another event. At most as many start at the same time as there are processors:
    otherwise all of them would start slowly.
    """

    def __init__(self, function: Function, limits: ApiGatewayLimits) -> None:
        self.function = function
        self.limits = limits
        self.busy: set[Environment] = set()
        self.idle: list[Environment] = []
        self.started = 0
        self._starts: set[asyncio.Task[None]] = set()
        self._turns = asyncio.Semaphore(os.cpu_count() or 1)
        self._waiting: deque[asyncio.Future[Environment]] = deque()

    async def invoke(self, event: Any, began: Callable[[Environment], None]) -> Any:
        """`began` is called with the environment when the event begins to run."""
        environment = await self._take()
        began(environment)
        try:
            answer = await environment.invoke(event, self._context(), self.limits.function_s)
        except FunctionRaised:
            self._offer(environment)
            raise
        except BaseException:
            environment.kill()
            self._forget(environment)
            await environment.ended()
            raise
        self._offer(environment)
        return answer

    async def _take(self) -> Environment:
        # The one that was used last, as in Lambda: so the others become idle and end.
        while self.idle:
            environment = self.idle.pop()
            if environment.alive:
                self.busy.add(environment)
                return environment
            await environment.ended()
        waiter: asyncio.Future[Environment] = asyncio.get_running_loop().create_future()
        self._waiting.append(waiter)
        self._grow()
        try:
            return await waiter
        except asyncio.CancelledError:
            if waiter.done() and not waiter.cancelled() and waiter.exception() is None:
                self._offer(waiter.result())
            raise

    def _grow(self) -> None:
        there = len(self.busy) + len(self.idle) + len(self._starts)
        if len(self._starts) < len(self._waiting) and there < self.limits.environments:
            task = asyncio.get_running_loop().create_task(self._start())
            self._starts.add(task)
            task.add_done_callback(self._start_ended)

    def _start_ended(self, task: "asyncio.Task[None]") -> None:
        self._starts.discard(task)
        self._grow()

    async def _start(self) -> None:
        async with self._turns:
            if not self._waiting:
                return  # the waiting events have found others
            self.started += 1
            try:
                environment = await Environment.start(self.function, self.limits)
            except Exception as error:
                # Any: an event that waits must hear of it, or it would be tried again for ever.
                waiter = self._next()
                if waiter is not None:
                    waiter.set_exception(_as_failure(error))
                    waiter.exception()  # its caller may have been cancelled at the same time
                return
        self._offer(environment)

    def _offer(self, environment: Environment) -> None:
        self.busy.discard(environment)
        if not environment.alive:
            self._forget(environment)
            return
        waiter = self._next()
        if waiter is None:
            self.idle.append(environment)
        else:
            self.busy.add(environment)
            waiter.set_result(environment)

    def _next(self) -> "asyncio.Future[Environment] | None":
        while self._waiting:
            waiter = self._waiting.popleft()
            if not waiter.done():
                return waiter
        return None

    def _forget(self, environment: Environment) -> None:
        """Remove a dead environment, so that another can start."""
        self.busy.discard(environment)
        self._grow()

    def _context(self) -> dict[str, Any]:
        name = self.function.name
        return {
            "aws_request_id": str(uuid.uuid4()),
            "deadline_ms": time.time_ns() // 1_000_000 + int(self.limits.function_s * 1000),
            "function_name": name,
            "invoked_function_arn": f"arn:aws:lambda:us-east-1:123456789012:function:{name}",
            "memory_limit_in_mb": str(self.function.memory_mb),
        }

    def kill_all(self) -> None:
        for environment in (*self.busy, *self.idle):
            environment.kill()

    async def close(self) -> None:
        while (waiter := self._next()) is not None:
            waiter.cancel()
        for start in list(self._starts):
            start.cancel()
        await asyncio.gather(*self._starts, return_exceptions=True)
        everyone = [*self.busy, *self.idle]
        self.kill_all()
        for environment in everyone:
            await environment.ended()


def _as_failure(error: Exception) -> FunctionFailed:
    if isinstance(error, FunctionFailed):
        return error
    return FunctionFailed(f"cannot be started: {str(error) or type(error).__name__}")


def _variables(function: Function, keys: Keys | None) -> dict[str, str]:
    inherited, own = dict(os.environ), {}
    if keys is not None:
        # Its stores are here: neither a profile nor a proxy of this shell may lead elsewhere.
        inherited = {name: value for name, value in inherited.items() if name[:4] != "AWS_"}
        own = {**credentials(keys), "NO_PROXY": "*", "no_proxy": "*"}
    return {
        **inherited,
        "AWS_LAMBDA_FUNCTION_NAME": function.name,
        "AWS_LAMBDA_FUNCTION_MEMORY_SIZE": str(function.memory_mb),
        "AWS_LAMBDA_FUNCTION_VERSION": "$LATEST",
        "LAMBDA_TASK_ROOT": str(function.folder),
        "_HANDLER": function.handler,
        "PYTHONUNBUFFERED": "1",
        **own,
        **function.environment,
    }
