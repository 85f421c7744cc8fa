"""The schema registry, as Confluent's clients ask it: answers, codes, and who may do what."""

import json
from collections.abc import AsyncIterator
from typing import Any
from urllib.parse import quote

import httpx
import pytest
from unit.http_api.given import Site
from unit.http_api.test_rights import limit

from samsa.http_api.registry.schema_log import PRODUCER_ID, TOPIC
from samsa.http_api.writing import RecordDraft, write
from samsa.schemas import log_records
from samsa.schemas.contents import Content, Reference, Registered, SchemaKind
from samsa.schemas.log_records import LogRecord
from samsa.security.kinds import Operation, ResourceType

MEDIA_TYPE = "application/vnd.schemaregistry.v1+json"
INT, LONG, TEXT = ('"int"', '"long"', '"string"')


class Asking:
    """What each call returns is the answer's JSON, once its code is the expected one."""

    def __init__(self, client: httpx.AsyncClient) -> None:
        self.client = client

    async def __call__(
        self, method: str, path: str, body: Any = None, code: int = 200, **params: Any
    ) -> Any:
        content = None if body is None else json.dumps(body)
        headers = {"content-type": MEDIA_TYPE, "accept": MEDIA_TYPE}
        answer = await self.client.request(
            method, path, content=content, headers=headers, params=params
        )
        told = answer.json()
        status = code if code < 1_000 else code // 100
        assert answer.status_code == status, told
        if status != 200:
            assert told["error_code"] == code, told
        assert answer.headers["content-type"] == MEDIA_TYPE
        return told

    async def get(self, path: str, code: int = 200, **params: Any) -> Any:
        return await self("GET", path, None, code, **params)

    async def register(self, subject: str, schema: str, code: int = 200, **more: Any) -> Any:
        path = f"/subjects/{quote(subject, safe='')}/versions"
        found = await self("POST", path, {"schema": schema, **more}, code)
        return found["id"] if code == 200 else found

    async def delete(self, path: str, code: int = 200, **params: Any) -> Any:
        return await self("DELETE", path, None, code, **params)


@pytest.fixture
async def ask(site: Site) -> AsyncIterator[Asking]:
    transport = httpx.ASGITransport(site.app, raise_app_exceptions=True)
    async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client:
        yield Asking(client)


async def put(site: Site, *records: LogRecord) -> None:
    """As another program would: by no idempotent producer."""
    topic = await site.kafka.topic(TOPIC)
    await write(topic, [RecordDraft(r.key, r.value, (), 0) for r in records], site.kafka)


async def test_an_empty_registry_has_nothing_and_makes_no_topic(ask: Asking, site: Site):
    assert await ask.get("/subjects") == []
    assert await ask.get("/schemas") == []
    assert await ask.get("/config") == {"compatibilityLevel": "BACKWARD"}
    assert await ask.get("/mode") == {"mode": "READWRITE"}
    assert sorted(await ask.get("/schemas/types")) == ["AVRO", "JSON", "PROTOBUF"]
    assert await ask.get("/contexts") == ["."]
    await ask.get("/schemas/ids/1", 40403)
    await ask.get("/subjects/none/versions", 40401)
    assert await site.broker.catalog.named(TOPIC) is None


async def test_a_schema_is_found_by_id_by_version_and_by_itself(ask: Asking):
    schema = '{"type": "record", "name": "R", "fields": []}'
    told = '{"type":"record","name":"R","fields":[]}'
    assert await ask.register("orders-value", schema) == 1
    version = {"subject": "orders-value", "version": 1, "id": 1, "schema": told}
    assert await ask.get("/schemas/ids/1") == {"schema": told}
    assert await ask.get("/schemas/ids/1", fetchMaxId="true") == {"schema": told, "maxId": 1}
    assert await ask.get("/schemas/ids/1/subjects") == ["orders-value"]
    assert await ask.get("/schemas/ids/1/versions") == [{"subject": "orders-value", "version": 1}]
    for number in ("1", "latest", "-1"):
        assert await ask.get(f"/subjects/orders-value/versions/{number}") == version
    assert await ask("POST", "/subjects/orders-value", {"schema": schema}) == version
    assert await ask.get("/subjects/orders-value/versions") == [1]
    assert await ask.get("/schemas") == [version]
    raw = await ask.client.get("/subjects/orders-value/versions/1/schema")
    assert (raw.text, (await ask.client.get("/schemas/ids/1/schema")).text) == (told, told)


async def test_the_same_schema_has_one_id_and_one_version_of_a_subject(ask: Asking):
    assert [await ask.register("a", INT) for _ in range(3)] == [1, 1, 1]
    assert await ask.register("b", INT) == 1
    assert await ask.register("a", LONG) == 2
    assert await ask.get("/subjects/a/versions") == [1, 2]
    assert await ask.get("/schemas/ids/1/subjects") == ["a", "b"]


async def test_a_schema_of_each_kind_is_told_with_its_kind(ask: Asking):
    await ask.register("j", '{"type": "object"}', schemaType="JSON")
    await ask.register("p", 'syntax = "proto3"; message M { }', schemaType="PROTOBUF")
    told = await ask.get("/schemas/ids/1")
    assert told == {"schemaType": "JSON", "schema": '{"type":"object"}'}
    assert (await ask.get("/subjects/p/versions/1"))["schemaType"] == "PROTOBUF"
    serialized = (await ask.get("/schemas/ids/2", format="serialized"))["schema"]
    assert await ask.register("q", serialized, schemaType="PROTOBUF") == 3
    assert "message M" in (await ask.get("/schemas/ids/3"))["schema"]


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ({"schema": ""}, 42201),
        ({}, 42201),
        ({"schema": "{"}, 42201),
        ({"schema": '"nothing"'}, 42201),
        ({"schema": INT, "schemaType": "XML"}, 42201),
        ({"schema": INT, "references": [{}]}, 42201),
        ({"schema": INT, "references": [{"name": "a", "subject": "a", "version": 1}]}, 42201),
        ({"schema": INT, "metadata": {"properties": {}}, "ruleSet": {"domainRules": [1]}}, 42201),
        ({"schema": "\ud800"}, 42201),
        ({"schema": INT, "id": 5}, 42205),
        ({"schema": INT, "id": "5"}, 422),
        ([], 422),
    ],
)
async def test_what_is_no_schema_is_refused_and_nothing_is_written(
    ask: Asking, site: Site, body: Any, code: int
):
    await ask("POST", "/subjects/a/versions", body, code)
    assert await ask.get("/subjects") == []


async def test_bodies_that_are_no_json_or_too_large_are_refused(ask: Asking):
    headers = {"content-type": MEDIA_TYPE}
    for content, status in ((b"{", 400), (b"[" * 100_000, 400), (b" " * 4_000_000, 413)):
        answer = await ask.client.post("/subjects/a/versions", content=content, headers=headers)
        assert (answer.status_code, answer.json()["error_code"]) == (status, status)


async def test_a_schema_that_does_not_fit_is_refused_with_the_reason(ask: Asking):
    await ask.register("a", INT)
    refused = await ask.register("a", TEXT, 409)
    assert refused["message"].startswith(
        'Schema being registered is incompatible with an earlier schema for subject "a", details: ['
    )
    assert "TYPE_MISMATCH" in refused["message"]
    for path in ("/compatibility/subjects/a/versions/latest", "/compatibility/subjects/a/versions"):
        assert await ask("POST", path, {"schema": LONG}) == {"is_compatible": True}
        assert await ask("POST", path, {"schema": TEXT}) == {"is_compatible": False}
        told = await ask("POST", path, {"schema": TEXT}, verbose="true")
        assert "TYPE_MISMATCH" in told["messages"][0]
    await ask("POST", "/compatibility/subjects/b/versions/latest", {"schema": TEXT}, 40401)
    await ask("POST", "/compatibility/subjects/a/versions/7", {"schema": TEXT}, 40402)
    assert await ask("POST", "/compatibility/subjects/b/versions", {"schema": TEXT}) == {
        "is_compatible": True
    }


@pytest.mark.parametrize(
    ("level", "allowed"),
    [
        ("NONE", [INT, LONG, '"float"']),
        ("BACKWARD", [LONG, '"float"']),
        ("BACKWARD_TRANSITIVE", [LONG, '"float"']),
        ("FORWARD", []),
        ("FULL", []),
    ],
)
async def test_each_level_allows_what_it_allows(ask: Asking, level: str, allowed: list[str]):
    assert await ask("PUT", "/config/a", {"compatibility": level}) == {"compatibility": level}
    assert await ask.register("a", '"int"') == 1
    for schema in (LONG, '"float"'):
        await ask.register("a", schema, 200 if schema in allowed else 409)


async def test_a_transitive_level_looks_at_all_versions(ask: Asking):
    def record(*fields: str) -> str:
        made = [{"name": f[0], "type": "int", **({"default": 1} if f[1:] else {})} for f in fields]
        return json.dumps({"type": "record", "name": "R", "fields": made})

    first, second, third = record(), record("a+"), record("a")
    for level, code in (("BACKWARD", 200), ("BACKWARD_TRANSITIVE", 409)):
        await ask("PUT", f"/config/{level}", {"compatibility": level})
        for schema in (first, second):
            await ask.register(level, schema)
        await ask.register(level, third, code)


async def test_levels_are_set_told_and_forgotten(ask: Asking):
    await ask.get("/config/a", 40408)
    await ask("PUT", "/config", {"compatibility": "sideways"}, 42203)
    await ask("PUT", "/config", {}, 42203)
    await ask("PUT", "/config", {"compatibility": "FULL", "alias": "b"}, 422)
    assert await ask("PUT", "/config", {"compatibility": "full"}) == {"compatibility": "FULL"}
    assert await ask.get("/config/a", defaultToGlobal="true") == {"compatibilityLevel": "FULL"}
    await ask("PUT", "/config/a", {"compatibility": "NONE"})
    assert await ask.get("/config/a") == {"compatibilityLevel": "NONE"}
    assert await ask.delete("/config/a") == {"compatibilityLevel": "NONE"}
    await ask.delete("/config/a", 40408)
    await ask.delete("/config")
    assert await ask.get("/config") == {"compatibilityLevel": "BACKWARD"}


async def test_normalized_schemas_are_the_same_whatever_their_order(ask: Asking):
    one, other = '{"title":"a","type":"object"}', '{"type":"object","title":"a"}'
    assert await ask.register("a", one, schemaType="JSON") == 1
    body = {"schema": other, "schemaType": "JSON"}
    await ask("POST", "/subjects/a", body, 40403)
    assert (await ask("POST", "/subjects/a", body, normalize="true"))["id"] == 1
    await ask("PUT", "/config", {"normalize": True})
    assert await ask.register("a", other, schemaType="JSON") == 1


async def test_deletion_is_soft_first_and_then_permanent(ask: Asking):
    await ask.register("a", INT)
    await ask.register("a", LONG)
    await ask.delete("/subjects/a", 40405, permanent="true")
    await ask.delete("/subjects/a/versions/1", 40407, permanent="true")
    assert await ask.delete("/subjects/a/versions/1") == 1
    await ask.delete("/subjects/a/versions/1", 40406)
    await ask.get("/subjects/a/versions/1", 40402)
    assert (await ask.get("/subjects/a/versions/1", deleted="true"))["id"] == 1
    assert await ask.get("/subjects/a/versions") == [2]
    assert await ask.get("/subjects/a/versions", deleted="true") == [1, 2]
    assert await ask.delete("/subjects/a/versions/latest") == 2
    assert await ask.get("/subjects") == []
    assert await ask.get("/subjects", deleted="true") == ["a"]
    assert await ask.get("/subjects", deletedOnly="true") == ["a"]
    await ask.delete("/subjects/a", 40404)
    assert await ask.get("/schemas/ids/1") == {"schema": INT}  # records may still be written by it
    assert await ask.delete("/subjects/a/versions/1", permanent="true") == 1
    await ask.get("/schemas/ids/1", 40403)
    assert await ask.delete("/subjects/a", permanent="true") == [2]
    assert await ask.get("/subjects", deleted="true") == []
    await ask.delete("/subjects/a", 40401)
    await ask.delete("/subjects/a/versions/1", 40401)


async def test_a_version_after_a_deletion_has_a_new_number_and_the_old_id(ask: Asking):
    await ask.register("a", INT)
    assert await ask.delete("/subjects/a") == [1]
    assert await ask.register("a", INT) == 1
    assert await ask.get("/subjects/a/versions") == [2]


async def test_a_subject_that_is_deleted_loses_its_level_and_mode(ask: Asking):
    await ask.register("a", INT)
    await ask("PUT", "/config/a", {"compatibility": "FULL"})
    await ask("PUT", "/mode/a", {"mode": "READWRITE"})
    await ask.delete("/subjects/a")
    await ask.get("/config/a", 40408)
    await ask.get("/mode/a", 40409)


async def test_what_is_referred_to_cannot_be_deleted(ask: Asking):
    await ask.register("money", '{"type":"record","name":"Money","fields":[]}')
    schema = '{"type":"record","name":"Order","fields":[{"name":"a","type":"Money"}]}'
    reference = {"name": "Money", "subject": "money", "version": -1}
    assert await ask.register("order", schema, references=[reference]) == 2
    fixed = [{**reference, "version": 1}]
    assert (await ask.get("/schemas/ids/2"))["references"] == fixed
    assert await ask.get("/subjects/money/versions/1/referencedby") == [2]
    await ask.delete("/subjects/money", 42206)
    await ask.delete("/subjects/money/versions/1", 42206)
    await ask.delete("/subjects/order")
    assert await ask.delete("/subjects/money") == [1]


async def test_references_that_multiply_are_each_looked_at_once(ask: Asking):
    """A billion laughs: each schema refers to the one before it by ten names."""
    await ask.register("s0", '{"type": "string"}', schemaType="JSON")
    for n in range(1, 12):
        references = [
            {"name": f"s{n - 1}-{i}", "subject": f"s{n - 1}", "version": 1} for i in range(10)
        ]
        schema = json.dumps({"allOf": [{"$ref": each["name"]} for each in references]})
        body = {"schemaType": "JSON", "references": references}
        refused = n > 4  # a hundred thousand schemas would be asked about one value
        await ask.register(f"s{n}", schema, 42201 if refused else 200, **body)
        if refused:
            break


async def test_modes_say_what_is_allowed(ask: Asking):
    await ask.get("/mode/a", 40409)
    assert await ask.get("/mode/a", defaultToGlobal="true") == {"mode": "READWRITE"}
    await ask("PUT", "/mode", {"mode": "SIDEWAYS"}, 42204)
    await ask.register("a", INT)
    await ask("PUT", "/mode/a", {"mode": "READONLY"})
    await ask.register("a", LONG, 42205)
    assert await ask.register("a", INT) == 1  # it is there already
    await ask.delete("/subjects/a", 42205)
    assert await ask.delete("/mode/a") == {"mode": "READONLY"}
    await ask("PUT", "/mode", {"mode": "IMPORT"}, 42205)
    await ask("PUT", "/mode/b", {"mode": "IMPORT"})
    await ask.register("b", LONG, 42205)
    assert await ask.register("b", LONG, id=77, version=5) == 77
    assert await ask.get("/subjects/b/versions") == [5]
    await ask.register("b", TEXT, 42205, id=77)
    await ask.register("b", TEXT, 42205, id=78, version=5)
    assert await ask.register("a", LONG) == 77
    assert await ask.register("c", TEXT) == 78


@pytest.mark.parametrize("version", ["0", "-2", "x", "2147483648", "9" * 50])
async def test_what_is_no_version_is_refused(ask: Asking, version: str):
    await ask.register("a", INT)
    await ask.get(f"/subjects/a/versions/{version}", 42202)


@pytest.mark.parametrize(
    "subject", ["a/b", "a/versions/1", "a b", "ü", "a%2Fb", "?", "../config", ":.c:x"]
)
async def test_a_subject_may_have_any_characters(ask: Asking, subject: str):
    assert await ask.register(subject, INT) == 1
    assert await ask.get("/subjects") == [subject]
    at = f"/subjects/{quote(subject, safe='')}"
    assert (await ask.get(f"{at}/versions/latest"))["subject"] == subject
    assert await ask.delete(at) == [1]


async def test_a_path_that_a_proxy_has_decoded_is_found_too(ask: Asking, site: Site):
    await ask.register("a/b", INT)
    scope = {
        "type": "http", "method": "GET", "path": "/subjects/a/b/versions", "raw_path": None,
        "query_string": b"", "headers": [], "scheme": "http", "server": ("127.0.0.1", 80),
        "client": ("127.0.0.1", 1), "http_version": "1.1", "root_path": "",
    }  # fmt: skip
    sent: list[Any] = []

    async def send(message: Any) -> None:
        sent.append(message)

    async def receive() -> Any:
        return {"type": "http.request", "body": b"", "more_body": False}

    await site.app(scope, receive, send)
    assert (sent[0]["status"], sent[1]["body"]) == (200, b"[1]")


@pytest.mark.parametrize(
    ("method", "path", "code"),
    [
        ("GET", "/schemas/ids/x", 404),
        ("GET", "/schemas/nothing", 404),
        ("PATCH", "/subjects", 405),
        ("DELETE", "/schemas/ids/1", 405),
        ("POST", "/subjects/%00/versions", 42208),
    ],
)
async def test_a_path_that_is_none_is_refused_in_the_registrys_way(
    ask: Asking, method: str, path: str, code: int
):
    await ask(method, path, {"schema": INT} if method == "POST" else None, code)


async def test_lists_have_prefixes_and_pages(ask: Asking):
    await ask.get("/subjects", 404, limit="x")
    for subject in ("b1", "a1", "a2"):
        await ask.register(subject, INT)
    await ask.register("a1", LONG)
    assert await ask.get("/subjects", subjectPrefix="a") == ["a1", "a2"]
    assert await ask.get("/subjects", offset=1, limit=1) == ["a2"]
    told = await ask.get("/schemas", subjectPrefix="a1", latestOnly="true")
    assert [(each["subject"], each["version"]) for each in told] == [("a1", 2)]
    assert len(await ask.get("/schemas", limit=2)) == 2


async def test_the_root_is_the_registrys_for_clients_that_want_no_page(ask: Asking):
    assert (await ask.client.get("/", headers={"accept": "*/*"})).json() == {}
    page = await ask.client.get("/", headers={"accept": "text/html,*/*"})
    assert page.text != "{}"


async def test_without_a_registry_there_are_none_of_its_paths(site: Site, tmp_path: Any):
    closed = Site(tmp_path / "..", schema_registry=False)
    transport = httpx.ASGITransport(closed.app)
    async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client:
        for path in ("/subjects", "/schemas/types", "/config", "/"):
            assert (await client.get(path)).status_code == 404
    await closed.close()


async def test_each_request_needs_its_right(ask: Asking, site: Site):
    await ask.register("a", INT)
    body = {"schema": INT}
    requests: list[tuple[Operation, str, str, Any]] = [
        (Operation.READ, "GET", "/subjects", None),
        (Operation.READ, "GET", "/schemas/ids/1", None),
        (Operation.READ, "GET", "/subjects/a/versions/1", None),
        (Operation.READ, "POST", "/subjects/a", body),
        (Operation.READ, "POST", "/compatibility/subjects/a/versions/1", body),
        (Operation.WRITE, "POST", "/subjects/a/versions", body),
        (Operation.WRITE, "DELETE", "/subjects/a", None),
        (Operation.DESCRIBE_CONFIGS, "GET", "/config", None),
        (Operation.DESCRIBE_CONFIGS, "GET", "/mode", None),
        (Operation.ALTER_CONFIGS, "PUT", "/config", {"compatibility": "FULL"}),
        (Operation.ALTER_CONFIGS, "PUT", "/mode", {"mode": "READWRITE"}),
    ]
    needed = {each[0] for each in requests}
    for operation, method, path, content in requests:
        others = needed - {operation}
        if operation is Operation.DESCRIBE_CONFIGS:
            others -= {Operation.ALTER_CONFIGS}  # which implies it
        limit(site, *((each, ResourceType.TOPIC, TOPIC) for each in others))
        await ask(method, path, content, 40301)
        limit(site, (operation, ResourceType.TOPIC, TOPIC))
        await ask(method, path, content)


async def test_records_that_are_none_of_a_registry_are_skipped(ask: Asking, site: Site):
    await ask.register("a", INT)
    key = log_records.schema_key("a", 2)
    good = log_records.of_schema(Registered("a", 2, 9, Content(SchemaKind.AVRO, LONG)))
    bad: list[LogRecord] = [
        LogRecord(b"", None),
        LogRecord(b"\xff", b"\xff"),
        LogRecord(b"[" * 100_000, b"x"),
        LogRecord(b'{"keytype":"SCHEMA"}', b"{}"),
        LogRecord(b'{"keytype":"SCHEMA","subject":"a","version":true,"magic":1}', b"{}"),
        LogRecord(b'{"keytype":"WHATEVER","subject":"a"}', b"{}"),
        LogRecord(b'{"keytype":"CONFIG","subject":7}', b"{}"),
        LogRecord(b'{"keytype":"CONFIG","subject":null}', b'{"compatibilityLevel":7}'),
        LogRecord(key, b"7"),
        LogRecord(key, good.value.replace(b'"id":9', b'"id":-9') if good.value else b""),
        LogRecord(key, good.value.replace(b'"id":9', b'"id":1') if good.value else b""),
        LogRecord(b'{"keytype":"NOOP","magic":0}', None),
    ]
    await put(site, *(each for each in bad if each.key))
    assert await ask.get("/subjects/a/versions") == [1]
    await put(site, good)
    assert await ask.get("/subjects/a/versions") == [1, 2]
    assert await ask.register("b", TEXT) == 10


async def test_a_log_of_another_registry_is_read(ask: Asking, site: Site):
    """With fields that are not known here, and in an order that is not ours."""
    await ask("PUT", "/config", {"compatibility": "NONE"})
    await put(
        site,
        LogRecord(b'{"keytype":"NOOP","magic":0}', None),
        LogRecord(
            b'{"keytype":"SCHEMA","subject":"old","version":1,"magic":1}',
            b'{"subject":"old","version":1,"id":100001,"md5":"x","schema":"\\"int\\"","deleted":false,'
            b'"metadata":null,"ruleSet":null,"schemaTags":[]}',
        ),
        LogRecord(
            b'{"keytype":"SCHEMA","subject":"old","version":2,"magic":1}',
            b'{"schema":"{\\"type\\":\\"object\\"}","schemaType":"JSON","id":100002,"version":2,'
            b'"subject":"old","references":[{"name":"a","subject":"old","version":1}],"deleted":false}',
        ),
        LogRecord(
            b'{"keytype":"CONFIG","subject":"old","magic":0}',
            b'{"compatibilityLevel":"FORWARD_TRANSITIVE"}',
        ),
        LogRecord(b'{"keytype":"MODE","subject":null,"magic":0}', b'{"mode":"READWRITE"}'),
        LogRecord(
            b'{"keytype":"DELETE_SUBJECT","subject":"old","magic":0}',
            b'{"subject":"old","version":1}',
        ),
    )
    assert await ask.get("/subjects/old/versions") == [2]
    assert await ask.get("/subjects/old/versions", deleted="true") == [1, 2]
    assert (await ask.get("/schemas/ids/100002"))["references"][0]["name"] == "a"
    assert await ask.get("/config/old") == {"compatibilityLevel": "FORWARD_TRANSITIVE"}
    assert await ask.register("new", LONG) == 100003
    await put(site, LogRecord(b'{"keytype":"CLEAR_SUBJECT","subject":"old","magic":0}', b"{}"))
    assert await ask.get("/subjects", deleted="true") == ["new"]


async def test_the_log_has_the_usual_form(ask: Asking, site: Site):
    reference = Reference("r", "s", 1)
    content = Content(SchemaKind.JSON, '{"title":"ü"}', (reference,))
    assert log_records.of_schema(Registered("s", 2, 3, content)) == (
        b'{"keytype":"SCHEMA","subject":"s","version":2,"magic":1}',
        '{"subject":"s","version":2,"id":3,"schemaType":"JSON","references":[{"name":"r","subject":"s",'
        '"version":1}],"schema":"{\\"title\\":\\"ü\\"}","deleted":false}'.encode(),
    )
    assert log_records.of_deletion("s", 2) == (
        b'{"keytype":"DELETE_SUBJECT","subject":"s","magic":0}',
        b'{"subject":"s","version":2}',
    )
    assert log_records.of_config(None, "FULL", None) == (
        b'{"keytype":"CONFIG","subject":null,"magic":0}',
        b'{"compatibilityLevel":"FULL"}',
    )
    await ask.register("s", INT)
    topic = await site.kafka.topic(TOPIC)
    assert (topic.partitions, topic.configs["cleanup.policy"]) == (1, "compact")
    assert PRODUCER_ID < 2**63


async def test_a_topic_that_would_lose_schemas_is_not_written_to(ask: Asking, site: Site):
    await site.broker.catalog.named_or_created(TOPIC, True)
    refused = await ask.register("a", INT, 50001)
    assert "cleanup.policy=compact" in refused["message"]


async def test_a_topic_that_was_deleted_is_an_empty_registry(ask: Asking, site: Site):
    await ask.register("a", INT)
    answer = await ask.client.delete(f"/topics/{TOPIC}")
    assert answer.status_code == 204
    site.clock.now += 2_000
    assert await ask.get("/subjects") == []
    assert await ask.register("b", LONG) == 1
