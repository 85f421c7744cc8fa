"""One request to the registry: what is in its path, its query and its body, checked."""

import json
from collections.abc import Mapping
from typing import Any

from starlette.requests import Request

from samsa.http_api.guard import CLOSE
from samsa.http_api.kafka_client import InProcessClient
from samsa.schemas.contents import Content, Reference, SchemaKind
from samsa.schemas.log_records import LARGEST, LONGEST_SUBJECT, MOST_REFERENCES
from samsa.security.kinds import Operation
from samsa.topics.permitted import may_topic

from .refusals import RegistryRefusal, bad_request, invalid_schema, invalid_version
from .schema_log import TOPIC
from .service import LATEST, Draft, Registry, registry_of

MOST_BODY = 3 * 1024 * 1024
"""A schema of a million characters fits, also if many of them are escaped. JSON of this size is
read in less than 50 ms."""
DEFAULT_LIMIT = 1_000


class Call:
    def __init__(self, request: Request, path: Mapping[str, str], kafka: InProcessClient) -> None:
        self.request = request
        self.kafka = kafka
        self._path = path
        self._query = request.query_params

    @property
    def registry(self) -> Registry:
        return registry_of(self.kafka)

    def needs(self, operation: Operation) -> None:
        """Raises RegistryRefusal."""
        if not may_topic(self.kafka.session.access, operation, TOPIC):
            more = f"{operation.name} on topic {TOPIC} is needed"
            raise RegistryRefusal(40301, f"User is denied operation: {more}")

    @property
    def subject(self) -> str:
        """Raises RegistryRefusal."""
        subject = self._path["subject"]
        if not 0 < len(subject) <= LONGEST_SUBJECT or not subject.isprintable():
            raise RegistryRefusal(42208, f"The specified subject '{subject[:100]}' is not a valid.")
        return subject

    @property
    def version(self) -> int:
        """Raises RegistryRefusal."""
        given = self._path["version"]
        if given in ("latest", "-1"):
            return LATEST
        if given.isdecimal() and len(given) < 11 and 0 < int(given) <= LARGEST:
            return int(given)
        raise invalid_version(given[:100])

    @property
    def id(self) -> int:
        given = self._path["id"]
        if given.isdecimal() and len(given) < 11:
            return int(given)
        raise RegistryRefusal(404, "HTTP 404 Not Found")

    def flag(self, name: str) -> bool:
        return self._query.get(name, "").lower() == "true"

    def text(self, name: str) -> str:
        return self._query.get(name, "")

    def window(self, default: int = DEFAULT_LIMIT) -> slice:
        """By `offset` and `limit`; without a limit as many as `default`."""
        begin, limit = self._whole("offset", 0), self._whole("limit", -1)
        return slice(begin, begin + (default if limit < 0 else min(limit, default)))

    def _whole(self, name: str, default: int) -> int:
        given = self._query.get(name, "")
        digits = given.removeprefix("-")
        if not given:
            return default
        if not digits.isdecimal() or len(digits) > 10:
            raise RegistryRefusal(404, "HTTP 404 Not Found")
        return int(given) if int(given) >= 0 else default

    async def body(self) -> dict[str, Any]:
        """Raises RegistryRefusal."""
        chunks, size = [], 0
        async for chunk in self.request.stream():
            size += len(chunk)
            if size > MOST_BODY:
                raise RegistryRefusal(413, f"a request has at most {MOST_BODY} bytes")
            chunks.append(chunk)
        try:
            told = await self.registry.schemas.in_thread(json.loads, b"".join(chunks))
        except (ValueError, RecursionError):
            raise RegistryRefusal(400, "the body is no JSON") from None
        if not isinstance(told, dict):
            raise bad_request("the body is no object")
        return told

    async def draft(self) -> Draft:
        """The schema in the body. Raises RegistryRefusal."""
        told = await self.body()
        text = told.get("schema")
        if not isinstance(text, str) or not text.strip():
            raise invalid_schema("Empty schema")
        for name in ("metadata", "ruleSet"):
            if told.get(name):
                raise invalid_schema(f"{name} is not supported")
        try:
            kind = SchemaKind(told.get("schemaType") or SchemaKind.AVRO)
            text.encode()
        except UnicodeEncodeError:
            raise invalid_schema("it has text that is not Unicode") from None
        except ValueError:
            raise invalid_schema("there is no such schemaType: AVRO, JSON, PROTOBUF") from None
        content = Content(kind, text, _references(told.get("references")))
        given_id, version = (_number(told, name) for name in ("id", "version"))
        return Draft(content, given_id, version, self.flag("normalize"))

    @property
    def headers(self) -> Mapping[str, str]:
        """Of a refusal: the rest of a body that is too large is not read."""
        return CLOSE


def _number(told: dict[str, Any], name: str) -> int | None:
    """0 and −1 stand for none."""
    found = told.get(name)
    if found is None or found in (0, -1):
        return None
    if not isinstance(found, int) or isinstance(found, bool) or not 0 < found <= LARGEST:
        raise bad_request(f"{name} is no number from 1 to {LARGEST}")
    return found


def _references(given: Any) -> tuple[Reference, ...]:
    if given is None:
        return ()
    if not isinstance(given, list) or len(given) > MOST_REFERENCES:
        raise invalid_schema(f"references are no list, or more than {MOST_REFERENCES}")
    return tuple(_reference(each) for each in given)


def _reference(given: Any) -> Reference:
    if isinstance(given, dict):
        name, subject, version = (given.get(each) for each in ("name", "subject", "version"))
        is_number = isinstance(version, int) and not isinstance(version, bool)
        if isinstance(name, str) and isinstance(subject, str) and is_number:
            assert isinstance(version, int)
            if name and (0 < version <= LARGEST or version == LATEST):
                return Reference(name, subject, version)
    raise invalid_schema("a reference needs a name, a subject and a version")
