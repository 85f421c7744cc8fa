"""Leads the paths of the schema registry to it, and imports it with the first of them."""

from importlib import import_module
from typing import Any

from starlette.responses import JSONResponse
from starlette.routing import BaseRoute, Match, NoMatchFound
from starlette.types import Receive, Scope, Send

from .kafka_client import ServedBroker

PREFIXES = ("subjects", "schemas", "compatibility", "config", "mode", "contexts")


class RegistryRoute(BaseRoute):
    """Matches only while the broker serves a registry."""

    methods: frozenset[str] = frozenset()

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        if scope["type"] != "http" or not _is_on(scope):
            return Match.NONE, {}
        is_ours = scope["path"].strip("/").partition("/")[0] in PREFIXES
        return (Match.FULL if is_ours or _asks_for_root(scope) else Match.NONE), {}

    def url_path_for(self, name: str, /, **path_params: Any) -> Any:
        """Raises what a router expects of a route without a name."""
        raise NoMatchFound(name, path_params)

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["path"] == "/":
            await JSONResponse({})(scope, receive, send)
            return
        registry = import_module("samsa.http_api.registry.app").registry
        await registry(scope, receive, send)


def _is_on(scope: Scope) -> bool:
    served = scope["app"].state.served
    return isinstance(served, ServedBroker) and served.broker.rules.schema_registry


def _asks_for_root(scope: Scope) -> bool:
    """Clients of a registry look there whether it is well; browsers ask for a page."""
    if scope["path"] != "/" or scope["method"] != "GET":
        return False
    accepted = b",".join(value for name, value in scope["headers"] if name == b"accept")
    return b"text/html" not in accepted
