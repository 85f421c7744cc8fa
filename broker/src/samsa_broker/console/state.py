"""What the routes of the console share: whom they ask, what was sampled, and what is running."""

from typing import Annotated, Any

from fastapi import Depends, Request
from fastapi.responses import Response

from samsa.http_api.kafka_client import Served
from samsa.http_api.sessions import Session

from .inside import Inside
from .lines import Streams
from .sampler import Sampler
from .shown import dumped

API = "/console/api"
MOST_TAILS = 20
MOST_SEARCHES = 4


class Console:
    def __init__(self, served: Served, inside: Inside | None) -> None:
        self.served = served
        self.inside = inside
        """None: the cluster is behind TCP, and tells only what Kafka's protocol has."""
        self.sampler = Sampler(served.client(Session()), inside)
        self.tails = Streams(MOST_TAILS, "live tails")
        self.searches = Streams(MOST_SEARCHES, "searches")

    def is_opened(self) -> None:
        """Called with each request: sampling begins with the first."""
        self.sampler.start()

    async def close(self) -> None:
        self.tails.close()
        self.searches.close()
        await self.sampler.close()


async def _console_of(request: Request) -> Console:
    console: Console = request.app.state.console
    console.is_opened()
    return console


OnConsole = Annotated[Console, Depends(_console_of)]


async def answer(console: Console, told: Any) -> Response:
    """As JSON, made off the event loop: it may have thousands of rows."""
    body = await console.served.work.in_thread(dumped, told)
    return Response(body, media_type="application/json", headers={"Cache-Control": "no-store"})
