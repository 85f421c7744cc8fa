"""Checks of logins by HTTP that are under way. They have a limit, for each address and in all: so
guesses by the thousand do not take all of the server's connections, and a client that has logged in
before is served beside them.

A client may send many requests at once when it comes. What brings the same credentials waits for
one check, unless the user's password was changed meanwhile.
"""

import asyncio
from collections import Counter
from collections.abc import Callable, Coroutine
from typing import Any

from samsa.http_api.sessions import TooManyLogins
from samsa.security.results import Result
from samsa.security.scram import ScramCredential

MOST_CHECKS = 32
MOST_OF_ONE_ADDRESS = 8
MOST_WAITING = 64
"""Requests. An HTTP server has a hundred connections."""
Sent = tuple[str, ScramCredential | None]
"""What the client has sent, and what a password of it is checked against."""


class LoginChecks:
    def __init__(self) -> None:
        self._under_way: dict[Sent, asyncio.Task[Result]] = {}
        self._hosts: Counter[str] = Counter()
        self._waiting = 0

    def __len__(self) -> int:
        return len(self._under_way)

    async def result(
        self, sent: Sent, host: str, check: Callable[[], Coroutine[Any, Any, Result]]
    ) -> Result:
        """Raises TooManyLogins."""
        if self._waiting >= MOST_WAITING:
            raise TooManyLogins("too many logins are under way")
        task = self._under_way.get(sent) or self._begin(sent, host, check)
        self._waiting += 1
        try:
            return await asyncio.shield(task)
        finally:
            self._waiting -= 1

    def _begin(
        self, sent: Sent, host: str, check: Callable[[], Coroutine[Any, Any, Result]]
    ) -> "asyncio.Task[Result]":
        if len(self._under_way) >= MOST_CHECKS or self._hosts[host] >= MOST_OF_ONE_ADDRESS:
            raise TooManyLogins("too many logins are under way")
        task = asyncio.get_running_loop().create_task(check())
        self._under_way[sent] = task
        self._hosts[host] += 1

        def over(_: object) -> None:
            del self._under_way[sent]
            self._hosts[host] -= 1
            if not self._hosts[host]:
                del self._hosts[host]

        task.add_done_callback(over)
        return task
