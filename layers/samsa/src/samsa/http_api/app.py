"""The application: every route, on one broker."""

from fastapi import FastAPI

from samsa import __version__

from . import described, failures
from .guard import RequestGuard
from .kafka_client import InProcessClient
from .routes import (
    cluster,
    configs,
    group_offsets,
    groups,
    partitions,
    produce,
    read,
    topics,
)

ROUTES = (topics, partitions, configs, produce, read, groups, group_offsets, cluster)


def application(kafka: InProcessClient) -> FastAPI:
    app = FastAPI(
        title="Samsa",
        version=__version__,
        docs_url=None,
        redoc_url=None,
        openapi_url=described.SCHEMA,
        redirect_slashes=False,
    )
    app.state.kafka = kafka
    app.state.routes = [route for each in ROUTES for route in each.router.routes]
    for each in ROUTES:
        app.include_router(each.router)
    failures.add_to(app)
    described.add_to(app)
    app.add_middleware(RequestGuard)
    return app
