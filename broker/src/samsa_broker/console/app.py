"""The console's routes, added to the HTTP API."""

from fastapi import FastAPI

from samsa.http_api.kafka_client import Served

from . import (
    costs,
    groups,
    history,
    overview,
    pages,
    records,
    security,
    topics,
    transactions,
)
from .inside import Inside
from .state import Console

__all__ = ["Console", "add_to"]
ROUTES = (overview, history, topics, records, groups, transactions, security, costs, pages)


def add_to(app: FastAPI, served: Served, inside: Inside | None) -> Console:
    add_routes(app)
    console = app.state.console = Console(served, inside)
    return console


def add_routes(app: FastAPI) -> None:
    """They ask whatever `app.state.console` is."""
    for each in ROUTES:
        app.include_router(each.router)
        app.state.routes += each.router.routes
