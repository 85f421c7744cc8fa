"""Iceberg's REST catalog, as far as a sink asks it: in front of a catalog in SQLite."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import urlsplit

from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.exceptions import (
    CommitFailedException,
    NoSuchNamespaceError,
    NoSuchTableError,
    TableAlreadyExistsError,
)
from pyiceberg.schema import Schema
from pyiceberg.table import CommitTableRequest

STATUS = {
    NoSuchNamespaceError: 404,
    NoSuchTableError: 404,
    CommitFailedException: 409,
    TableAlreadyExistsError: 409,
}


class Named:
    """A table that a commit may create."""

    def __init__(self, name: tuple[str, ...]) -> None:
        self.name = lambda: name


class Handler(BaseHTTPRequestHandler):
    catalog: SqlCatalog

    def do_GET(self) -> None:
        self._answer(lambda *path: self._read(*path))

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"])).decode()
        self._answer(lambda *path: self._change(body, *path))

    def _read(self, *path: str) -> Any:
        match path:
            case ("config",):
                return {"defaults": {}, "overrides": {}}
            case ("namespaces", space, "tables", name):
                found = self.catalog.load_table((space, name))
                return _table(found.metadata_location, found.metadata)
        raise AssertionError(path)

    def _change(self, body: str, *path: str) -> Any:
        match path:
            case ("namespaces",):
                self.catalog.create_namespace(tuple(json.loads(body)["namespace"]))
                return json.loads(body)
            case ("namespaces", space, "tables"):
                asked = json.loads(body)
                assert asked["stage-create"]
                if not self.catalog.namespace_exists(space):
                    raise NoSuchNamespaceError(space)
                schema = Schema.model_validate(asked["schema"])
                staged = self.catalog._create_staged_table((space, asked["name"]), schema)
                return _table(None, staged.metadata)
            case ("namespaces", space, "tables", name):
                change = CommitTableRequest.model_validate_json(body)
                changing: Any = Named((space, name))
                done = self.catalog.commit_table(changing, change.requirements, change.updates)
                return _table(done.metadata_location, done.metadata)
        raise AssertionError(path)

    def _answer(self, work: Any) -> None:
        try:
            status, said = 200, work(*urlsplit(self.path).path.split("/")[2:])
        except tuple(STATUS) as error:
            status = STATUS[type(error)]
            kind = type(error).__name__
            said = {"error": {"message": str(error), "type": kind, "code": status}}
        content = json.dumps(said).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_: Any) -> None:
        pass


def _table(location: str | None, metadata: Any) -> dict[str, Any]:
    said = json.loads(metadata.model_dump_json())
    return {"metadata-location": location, "metadata": said, "config": {}}


@contextmanager
def rest_catalog(**properties: str) -> Iterator[str]:
    """Its address."""
    handler = type("OfThisCatalog", (Handler,), {"catalog": SqlCatalog("rest", **properties)})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        serving = threading.Thread(target=server.serve_forever, daemon=True)
        serving.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            serving.join()
