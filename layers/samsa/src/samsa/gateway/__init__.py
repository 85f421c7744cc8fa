"""The gateway function's library: one event of API Gateway in, one answer out.

    gateway = Gateway(Settings.of(os.environ))
    gateway.handle(event, context)          # what Lambda calls

A function never waits and keeps nothing: whatever a request needs of the one before it is in the
ledger or in the shim. What this process remembers only saves a look. Everything here can stop at
any step; the commit protocol, the watchers' expiry and the shim's own patience repair it.
"""

from .function import Gateway
from .settings import Settings

__all__ = ["Gateway", "Settings"]
