"""The HTTP API: `samsa.http_api`, to which Mangum hands API Gateway's events.

IAM has let the caller in. The broker is put together as the gateway function's is: a record that is
written here wakes the consumers that are parked there.
"""

import asyncio
import os
from typing import Any

from mangum import Mangum

from samsa.aws.connections import ConnectionsApi
from samsa.gateway.assembly import Assembly
from samsa.gateway.settings import Settings
from samsa.http_api.app import application
from samsa.http_api.asking import Kafka
from samsa.system import SystemClock, fresh_words

TIDYING_S = 1.0
"""For what nobody waits for; what is left is found by whoever comes next, or by the janitor."""

# Mangum takes the thread's loop. The stores' connections belong to it, and live as long as we do.
LOOP = asyncio.new_event_loop()
asyncio.set_event_loop(LOOP)


SETTINGS = Settings.of(os.environ)
PARTS = Assembly(SETTINGS, SystemClock(), fresh_words())
CONNECTIONS = ConnectionsApi(SETTINGS.connections) if SETTINGS.connections else None
if SETTINGS.ledger.endpoint is not None:
    # A local DynamoDB starts empty; in an account the table is made by the deployment.
    LOOP.run_until_complete(PARTS.ledger.create_table())

app = application(Kafka(PARTS.broker, may_wait=False))
serve = Mangum(app, lifespan="off")


def handler(event: dict[str, Any], context: Any) -> dict[str, Any]:
    answer = serve(event, context)
    LOOP.run_until_complete(finish())
    return answer


async def finish() -> None:
    """Nothing of an event is left running: the process may be frozen when it is answered."""
    if PARTS.wakeups.pending and CONNECTIONS is not None:
        await PARTS.wakeups.flush(CONNECTIONS)
    try:
        async with asyncio.timeout(TIDYING_S):
            await PARTS.broker.background_done()
    except TimeoutError:
        return
