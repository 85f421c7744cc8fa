"""Whether it is well, what it is, how it describes itself, and whom it does not talk to."""

from typing import Any

import httpx
import pytest
from unit.http_api.given import Api, Site

from samsa import __version__
from samsa.http_api.guard import stranger
from samsa.http_api.origins import OwnSiteOnly
from samsa.ports import Unavailable


async def silent(*_: Any, **__: Any) -> Any:
    raise Unavailable("nobody home")


async def test_it_is_well_if_both_stores_answer(api: Api):
    well = {"status": "ok", "ledger": "ok", "objects": "ok", "version": __version__}
    assert await api.get("/health") == well


@pytest.mark.parametrize(("store", "call"), [("ledger", "topic"), ("objects", "get")])
async def test_a_store_that_does_not_answer_is_named_and_clients_told_to_come_again(
    api: Api, site: Site, store: str, call: str
):
    setattr(getattr(site, store), call, silent)
    answer = await api.client.get("/health")
    assert (answer.status_code, answer.headers["retry-after"]) == (503, "1")
    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.json()["detail"] == f"{store}: nobody home"
    assert answer.json()["kafka_error"] == "KAFKA_STORAGE_ERROR"


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("GET", "/topics", None),
        ("POST", "/topics", {"name": "new"}),
        ("GET", "/topics/other", None),
        ("DELETE", "/topics/orders", None),
        ("GET", "/topics/orders/partitions", None),
        ("GET", "/topics/orders/partitions/0/records", None),
        ("GET", "/topics/orders/partitions/0/records/0", None),
        ("PATCH", "/topics/orders/configs", {"configs": {"flush.ms": "1"}}),
        ("POST", "/topics/orders/partitions", {"count": 3}),
    ],
)
async def test_while_the_ledger_is_away_every_answer_is_503(
    api: Api, site: Site, method: str, path: str, body: Any
):
    await api.topic()
    await api.write("one")
    for name in ("topic", "topics", "create_topic", "change_topic", "head", "extents"):
        setattr(site.ledger, name, silent)
    problem = await api(method, path, 503, body)
    assert problem["next_step"].startswith("Ask again")


async def test_while_the_objects_are_away_nothing_is_written_or_read(api: Api, site: Site):
    await api.topic()
    await api.write("one")
    site.objects.piece = silent  # type: ignore[method-assign]
    await api.get("/topics/orders/partitions/0/records", 503)


async def test_the_cluster_is_described(api: Api, site: Site):
    assert await api.get("/cluster") == {
        "cluster_id": "a-cluster",
        "version": __version__,
        "default_partitions": 1,
        "auto_create_topics": True,
        "brokers": [{"id": 0, "host": "127.0.0.1", "port": 9092, "zone": None}],
    }
    site.served.address = None  # as in a function
    site.broker.cluster_id = ""
    told = await api.get("/cluster")
    assert told["brokers"] == []
    assert told["cluster_id"] == (await api.get("/cluster"))["cluster_id"] != ""
    assert told["cluster_id"] == await site.ledger.cluster_id("another")


async def test_what_is_not_there_or_not_done_is_a_problem_too(api: Api):
    assert (await api.get("/nowhere", 404))["next_step"]
    await api.get("/topics/", 404)
    answer = await api.client.put("/topics", json={})
    assert (answer.status_code, answer.headers["allow"]) == (405, "GET, POST")
    assert answer.json()["title"] == "Method Not Allowed"


async def test_what_nobody_thought_of_is_a_problem_without_its_innards(site: Site):
    async def broken() -> Any:
        raise RuntimeError("a secret")

    site.ledger.topics = broken  # type: ignore[method-assign]
    transport = httpx.ASGITransport(site.app, raise_app_exceptions=False)
    async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client:
        answer = await client.get("/topics")
    assert (answer.status_code, answer.json()["detail"]) == (500, "RuntimeError")
    assert "secret" not in answer.text


async def test_the_page_to_try_it_needs_no_internet(api: Api):
    page = (await api.client.get("/docs")).text
    assert "://" not in page.replace("http://127.0.0.1", "")
    assert "/openapi.json" in page
    script = await api.client.get("/docs/assets/swagger-ui-bundle.js")
    assert (script.status_code, b"SwaggerUIBundle" in script.content) == (200, True)


async def test_every_operation_says_how_it_can_be_refused(api: Api):
    schema = await api.get("/openapi.json")
    assert set(schema["components"]["schemas"]["Problem"]["required"]) >= {
        "type",
        "title",
        "status",
    }
    for path, operations in schema["paths"].items():
        for method, operation in operations.items():
            assert operation["summary"], path
            assert operation["tags"], path
            refusals = {
                status: answer["content"]
                for status, answer in operation["responses"].items()
                if status >= "4"
            }
            assert {"422", "503"} <= set(refusals), (method, path)
            for content in refusals.values():
                reference = content["application/problem+json"]["schema"]["$ref"]
                assert reference == "#/components/schemas/Problem"


@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("127.0.0.1:8080", 200),
        ("localhost:8080", 200),
        ("LOCALHOST", 200),
        ("[::1]:8080", 200),
        ("127.9.9.9", 200),
        ("samsa.example", 421),
        ("127.0.0.1.nip.example:8080", 421),
        ("10.0.0.1", 421),
        ("[bad", 421),
        ("", 421),
    ],
)
async def test_on_loopback_a_strangers_name_is_refused(site: Site, host: str, status: int):
    """A page whose name was made to point here comes with that name."""
    answer = await asked_by(site, {"host": host})
    assert answer.status_code == status


async def asked_by(
    site: Site, headers: dict[str, str], loopback: bool = True, names: tuple[str, ...] = ()
) -> httpx.Response:
    app = OwnSiteOnly(site.app, stranger, loopback=loopback, names=names)
    transport = httpx.ASGITransport(app)  # type: ignore[arg-type]
    async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client:
        return await client.get("/topics", headers=headers)


@pytest.mark.parametrize(
    ("host", "status"), [("10.0.0.1:8080", 200), ("Samsa.lan", 200), ("samsa.example", 421)]
)
async def test_elsewhere_addresses_and_configured_names_are_known(
    site: Site, host: str, status: int
):
    answer = await asked_by(site, {"host": host}, loopback=False, names=("samsa.lan",))
    assert answer.status_code == status


@pytest.mark.parametrize(
    ("origin", "status"),
    [
        ("http://localhost:8080", 200),
        ("http://localhost", 403),
        ("http://127.0.0.1:8080", 403),
        ("https://samsa.example", 403),
        ("null", 403),
        ("", 403),
        ("http://[bad", 403),
    ],
)
async def test_a_page_of_another_origin_is_refused(site: Site, origin: str, status: int):
    answer = await asked_by(site, {"host": "localhost:8080", "origin": origin})
    assert answer.status_code == status


@pytest.mark.parametrize("kind", [None, "text/plain", "application/x-www-form-urlencoded"])
async def test_a_body_of_a_type_that_any_page_can_send_is_refused(api: Api, kind: str | None):
    headers = {} if kind is None else {"content-type": kind}
    answer = await api.client.post("/topics", content=b'{"name": "x"}', headers=headers)
    assert answer.status_code == 415
    assert (await api.client.get("/topics/x")).status_code == 404


async def test_no_page_of_another_origin_may_read_or_write(api: Api):
    """No answer allows another origin, and a preflight is refused."""
    asking = {"origin": "http://samsa.example", "access-control-request-method": "POST"}
    preflight = await api.client.options("/topics", headers=asking)
    assert preflight.status_code == 405
    plain = await api.client.get("/topics", headers={"origin": "http://samsa.example"})
    for answer in (preflight, plain):
        assert not any(name.startswith("access-control") for name in answer.headers)
