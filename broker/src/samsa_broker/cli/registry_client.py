"""Asks a schema registry by HTTP: that of `samsa up`, or any other with Confluent's API."""

import argparse
import json
import ssl
import urllib.error
import urllib.request
from base64 import b64encode
from collections.abc import Mapping
from typing import Any, Self
from urllib.parse import quote, urlencode

from samsa.schemas.contents import NamedText, SchemaKind
from samsa.schemas.errors import BadSchema, NotInstalled
from samsa.schemas.parsing import Schema, parse

from .client import ClientError, login_of
from .login import ClientLogin

MEDIA_TYPE = "application/vnd.schemaregistry.v1+json"
TIMEOUT_S = 30.0


class RegistryError(ClientError):
    """A refusal of the registry."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code


class RegistryClient:
    def __init__(self, url: str, login: ClientLogin | None = None) -> None:
        if not url.startswith(("http://", "https://")):
            raise ClientError(f"{url!r} is no http:// or https:// address")
        self._url, self._login = url.rstrip("/"), login or ClientLogin()
        self._known: dict[int, Schema] = {}

    @classmethod
    def of(cls, given: argparse.Namespace) -> Self:
        return cls(given.registry, login_of(given.command_config))

    def ask(self, method: str, path: str, body: Any = None, **query: Any) -> Any:
        """Raises ClientError; RegistryError, if the registry has refused it."""
        asked = {name: str(value).lower() for name, value in query.items() if value is not None}
        url = f"{self._url}{path}" + (f"?{urlencode(asked)}" if asked else "")
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(url, data, self._headers(), method=method)  # noqa: S310
        context = self._context() if url.startswith("https:") else None
        try:
            with urllib.request.urlopen(request, timeout=TIMEOUT_S, context=context) as answer:  # noqa: S310
                return json.loads(answer.read())
        except urllib.error.HTTPError as error:
            raise _refusal(error) from None
        except (OSError, ValueError) as error:
            why = getattr(error, "reason", None) or error
            hint = "samsa up serves one with its HTTP API"
            raise ClientError(
                f"no schema registry answers at {self._url} ({why}); {hint}"
            ) from None

    def _context(self) -> ssl.SSLContext:
        try:
            return self._login.tls()
        except OSError as error:
            raise ClientError(f"no TLS with {self._url}: {error}") from error

    def _headers(self) -> Mapping[str, str]:
        headers = {"content-type": MEDIA_TYPE, "accept": MEDIA_TYPE}
        if self._login.user:
            login = b64encode(f"{self._login.user}:{self._login.password}".encode()).decode()
            headers["authorization"] = f"Basic {login}"
        return headers

    def schema(self, schema_id: int) -> Schema:
        """Parsed, and remembered. Raises ClientError."""
        if schema_id not in self._known:
            told = self.ask("GET", f"/schemas/ids/{schema_id}")
            try:
                references: dict[str, NamedText] = {}
                self._add_references(told, references)
                kind = SchemaKind(told.get("schemaType", "AVRO"))
                found = parse(kind, told["schema"], list(references.values()))
            except (BadSchema, NotInstalled, ValueError) as error:
                raise ClientError(f"schema {schema_id}: {error}") from None
            self._known[schema_id] = found
        return self._known[schema_id]

    def _add_references(self, told: Any, found: dict[str, NamedText]) -> None:
        """Each after those that it refers to itself."""
        for each in told.get("references", ()):
            if each["name"] not in found:
                inner = self.ask("GET", f"{path_of(each['subject'])}/versions/{each['version']}")
                self._add_references(inner, found)
                found[each["name"]] = NamedText(each["name"], inner["schema"])


def path_of(subject: str) -> str:
    return f"/subjects/{quote(subject, safe='')}"


def _refusal(error: urllib.error.HTTPError) -> ClientError:
    try:
        told = json.loads(error.read())
        return RegistryError(int(told["error_code"]), str(told["message"]))
    except (ValueError, KeyError, TypeError):
        return ClientError(f"{error.url}: {error.code} {error.reason}")
