"""The HTTP API: FastAPI, which Mangum hands API Gateway's events to. IAM has let the caller in.

It says whether the cluster's stores answer, and nothing else yet.
"""

import asyncio
import contextlib
import os

from fastapi import FastAPI, Request
from fastapi.responses import JSONResponse
from mangum import Mangum

from samsa import __version__
from samsa.ports import Ledger, Missing, Objects, Unavailable
from samsa.server.urls import open_ledger, open_objects

# Mangum takes the thread's loop. The stores' connections belong to it, and live as long as we do.
LOOP = asyncio.new_event_loop()
asyncio.set_event_loop(LOOP)

LEDGER: Ledger = LOOP.run_until_complete(open_ledger(os.environ["SAMSA_LEDGER"], fsync=False))
OBJECTS: Objects = open_objects(os.environ["SAMSA_OBJECTS"], fsync=False, cache_bytes=0)
NOBODY = "no such thing"
"""A topic's name has no spaces, nor has an object's."""

app = FastAPI(title="Samsa", version=__version__, description="A Kafka broker with no brokers.")


@app.exception_handler(Unavailable)
async def unavailable(_: Request, error: Unavailable) -> JSONResponse:
    """As RFC 9457 wants problems to be told."""
    problem = {"type": "about:blank", "title": "Unavailable", "status": 503, "detail": str(error)}
    return JSONResponse(problem, 503, media_type="application/problem+json")


@app.get("/health")
async def health() -> dict[str, str]:
    """Both stores were asked something just now, and knew the answer."""
    await LEDGER.topic(NOBODY)
    with contextlib.suppress(Missing):
        await OBJECTS.get(f"log/{NOBODY}")
    return {"status": "ok", "version": __version__}


handler = Mangum(app, lifespan="off")
