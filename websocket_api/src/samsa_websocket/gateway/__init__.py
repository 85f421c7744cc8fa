"""The gateway function's library: one event of API Gateway in, one answer out.

    gateway = Gateway(GatewaySettings.of(os.environ))
    gateway.handle(event, context)          # what Lambda calls

A function never waits and keeps no state: what a request needs of an earlier one is in the ledger
or in the shim. What this process remembers is a cache, and only saves a call. A function may stop
at any step: the commit protocol, the watchers' expiry and the shim's time-outs repair it.
"""

from .function import Gateway
from .settings import GatewaySettings

__all__ = ["Gateway", "GatewaySettings"]
