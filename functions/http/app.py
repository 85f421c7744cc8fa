"""The HTTP API: `samsa.http_api`, to which Mangum hands API Gateway's events.

IAM has authorised the caller. With `SAMSA_ACLS` its identity is the principal that ACLs are about.
The broker is assembled like that of the gateway function: a record that is written here wakes the
consumers that are parked there.
"""

import asyncio
import os
from typing import Any

from mangum import Mangum

from samsa.http_api.app import application
from samsa.http_api.iam_login import IamLogin
from samsa.http_api.kafka_client import ServedBroker
from samsa.http_api.sessions import EVERYONE, Login
from samsa.runtime.system import SystemClock, fresh_words
from samsa_websocket.gateway.assembly import Assembly
from samsa_websocket.gateway.settings import GatewaySettings
from samsa_websocket.pushes.connections import ConnectionsApi

TIDYING_S = 1.0
"""For background work. What is not done by then is done by the next process, or by the janitor."""

# Mangum uses the thread's event loop. The stores' connections belong to it and live as long as the
# process.
LOOP = asyncio.new_event_loop()
asyncio.set_event_loop(LOOP)


SETTINGS = GatewaySettings.of(os.environ)
PARTS = Assembly(SETTINGS, SystemClock(), fresh_words())
CONNECTIONS = ConnectionsApi(SETTINGS.connections) if SETTINGS.connections else None
if SETTINGS.ledger.endpoint is not None:
    # A local DynamoDB starts empty; in an account the table is made by the deployment.
    LOOP.run_until_complete(PARTS.ledger.create_table())


def login() -> Login:
    return EVERYONE if PARTS.audit is None else IamLogin(PARTS.broker, PARTS.audit)


app = application(ServedBroker(PARTS.broker, may_wait=False), login())
serve = Mangum(app, lifespan="off")


def handler(event: dict[str, Any], context: Any) -> dict[str, Any]:
    answer = serve(event, context)
    LOOP.run_until_complete(finish())
    return answer


async def finish() -> None:
    """Leave no work of an event running: the process may be frozen after the answer."""
    if PARTS.wakeups.pending and CONNECTIONS is not None:
        await PARTS.wakeups.flush(CONNECTIONS)
    try:
        async with asyncio.timeout(TIDYING_S):
            await PARTS.broker.background_done()
    except TimeoutError:
        return
