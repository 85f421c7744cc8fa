"""The application: every route, on one broker."""

from fastapi import FastAPI

from samsa import __version__

from . import described, failures
from .guard import RequestGuard
from .kafka_client import Served
from .login_first import LoginFirst
from .registry_routes import RegistryRoute
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
from .sessions import EVERYONE, Login

ROUTES = (topics, partitions, configs, produce, read, groups, group_offsets, cluster)


def application(served: Served, login: Login = EVERYONE) -> FastAPI:
    app = FastAPI(
        title="Samsa",
        version=__version__,
        docs_url=None,
        redoc_url=None,
        openapi_url=described.SCHEMA,
        redirect_slashes=False,
    )
    app.state.served, app.state.login = served, login
    app.state.routes = [route for each in ROUTES for route in each.router.routes]
    for each in ROUTES:
        app.include_router(each.router)
    app.router.routes.append(RegistryRoute())
    failures.add_to(app)
    described.add_to(app)
    app.add_middleware(RequestGuard)
    app.add_middleware(LoginFirst)  # the last one is asked first
    return app
