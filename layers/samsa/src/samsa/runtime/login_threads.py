"""Threads for logins that compute or wait for long, so that the event loop does neither.

A password of PLAIN is hashed thousands of times: milliseconds. There is one thread for them, so a
flood of logins delays logins and nothing else. A token of OAUTHBEARER may have to wait for the keys
of its issuer. A login with SCRAM takes microseconds and needs no thread.
"""

import asyncio
from concurrent.futures import ThreadPoolExecutor

from samsa.security.sasl import OAUTHBEARER, PLAIN, Exchange, Result

TOKENS_AT_ONCE = 4


class LoginThreads:
    def __init__(self) -> None:
        self._pools = {
            PLAIN: ThreadPoolExecutor(1, "samsa-plain"),
            OAUTHBEARER: ThreadPoolExecutor(TOKENS_AT_ONCE, "samsa-oauth"),
        }

    async def step(self, mechanism: str, exchange: Exchange, token: bytes) -> Result:
        pool = self._pools.get(mechanism)
        if pool is None:
            return exchange.step(token)
        return await asyncio.get_running_loop().run_in_executor(pool, exchange.step, token)

    def close(self) -> None:
        for pool in self._pools.values():
            pool.shutdown(wait=False, cancel_futures=True)
