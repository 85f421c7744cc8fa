"""How the API describes itself: OpenAPI, with a problem for every refusal, and a page to try it."""

from importlib.util import find_spec
from pathlib import Path
from typing import Any

from fastapi import FastAPI
from fastapi.openapi.docs import get_swagger_ui_html
from fastapi.openapi.utils import get_openapi
from fastapi.responses import HTMLResponse
from fastapi.staticfiles import StaticFiles

from .problems import MEDIA_TYPE, Problem

ASSETS = "/docs/assets"
SCHEMA = "/openapi.json"
ABOUT = """
A Kafka broker with no brokers, by HTTP: the same topics, records and groups that Kafka clients see.

Refusals are `application/problem+json` (RFC 9457): `kafka_error` has Kafka's name for it,
`next_step` says what to do. A store that does not answer is 503 with `Retry-After`.
"""
TAGS = [
    {"name": "topics", "description": "Make, list, describe and delete topics."},
    {"name": "partitions", "description": "Where each begins and ends, and what it takes."},
    {"name": "configs", "description": "What a topic is told to do, and what the broker does."},
    {"name": "records", "description": "Write and read them, as JSON or as they are."},
    {"name": "groups", "description": "Who reads what, how far they are, and where they go on."},
    {"name": "cluster", "description": "Whether it is well, and what it is."},
]
LOGINS = {
    "basic": {"type": "http", "scheme": "basic", "description": "A user of SCRAM or PLAIN."},
    "bearer": {"type": "http", "scheme": "bearer", "description": "A token of OAUTHBEARER."},
}
"""Where a broker or an address asks for one."""
_WORDS = {
    400: "The body cannot be read.",
    401: "It does not say who sends it, and has to. `WWW-Authenticate` says how.",
    403: "No ACL allows it to whoever sent it.",
    404: "There is no such thing.",
    409: "It is there already, or in use.",
    413: "It is too large.",
    415: "The body is of another type.",
    416: "The offset is outside of the log.",
    422: "The request is not as described, or Kafka's rules forbid it.",
    503: "A store does not answer. Ask again after `Retry-After` seconds.",
}


def refusals(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """For a route's `responses`: these, and those that any route may answer."""
    content = {MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}}
    return {
        status: {"description": _WORDS[status], "content": content}
        for status in sorted({*statuses, 401, 403, 422, 503})
    }


def add_to(app: FastAPI) -> None:
    app.openapi = lambda: _openapi(app)  # type: ignore[method-assign]
    assets = _assets()
    if assets is not None:
        app.mount(ASSETS, StaticFiles(directory=assets))

    @app.get("/docs", include_in_schema=False)
    async def docs() -> HTMLResponse:
        local: dict[str, Any] = {} if assets is None else _LOCAL
        return get_swagger_ui_html(openapi_url=SCHEMA, title="Samsa", **local)


_LOCAL: dict[str, Any] = {
    "swagger_js_url": f"{ASSETS}/swagger-ui-bundle.js",
    "swagger_css_url": f"{ASSETS}/swagger-ui.css",
    "swagger_favicon_url": f"{ASSETS}/favicon.png",
}


def _assets() -> Path | None:
    """Swagger UI, as fastapi-offline packs it; without that package a browser asks a CDN."""
    found = find_spec("fastapi_offline")
    folder = Path(found.origin).parent / "static" if found and found.origin else None
    return folder if folder and folder.is_dir() else None


def _openapi(app: FastAPI) -> dict[str, Any]:
    if app.openapi_schema is None:
        made = get_openapi(
            title=app.title,
            version=app.version,
            summary="A Kafka broker with no brokers",
            description=ABOUT,
            routes=app.routes,
            tags=TAGS,
            license_info={"name": "Apache-2.0", "identifier": "Apache-2.0"},
        )
        problem = Problem.model_json_schema(ref_template="#/components/schemas/{model}")
        made["components"]["securitySchemes"] = LOGINS
        made["security"] = [{}, *({name: []} for name in LOGINS)]
        made["components"]["schemas"] |= {**problem.pop("$defs"), "Problem": problem}
        app.openapi_schema = made
    return app.openapi_schema
