"""The API keeps to its own description: schemathesis asks what it may and what it may not."""

from collections.abc import Iterator
from typing import Any

import httpx
import pytest
import schemathesis
from hypothesis import HealthCheck, settings
from schemathesis.checks import CHECKS
from schemathesis.config import SchemathesisConfig
from unit.http_api.given import the_application
from unit.http_api.home import Home, a_home

# Kafka's own rules are no part of a JSON schema: a config of an unknown name is well-formed.
REFUSED_BY_KAFKA = ["404", "409", "413", "416", "422"]
CONFIG = {
    "checks": {"positive_data_acceptance": {"expected-statuses": ["2xx", *REFUSED_BY_KAFKA]}},
    "seed": 1883,
}
EXAMPLES = 20


class Whoever:
    """The application as schemathesis knows it while tests are collected: nobody is at home yet."""

    at: Home | None = None

    async def __call__(self, *asked: Any) -> None:
        await (self.at or the_application())(*asked)


WHOEVER = Whoever()
described = schemathesis.openapi.from_asgi(
    "/openapi.json", WHOEVER, config=SchemathesisConfig.from_dict(CONFIG)
)


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Home]:
    with a_home(tmp_path_factory.mktemp("home")) as home:
        WHOEVER.at = home
        yield home
        WHOEVER.at = None


@pytest.fixture
def furnished(home: Home) -> Home:
    home.run(furnish(home))
    return home


async def furnish(home: Home) -> None:
    """What the examples speak of: a topic with records, and a group that has read some of them."""
    site = home.site
    site.app.state.served = site.served
    transport = httpx.ASGITransport(site.app)
    async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client:
        for left in ("payments", "orders"):
            await client.delete(f"/topics/{left}")
        await client.post("/topics", json={"name": "orders", "partitions": 3})
        records = [{"value": "hello", "partition": n} for n in (0, 1, 2)]
        written = await client.post("/topics/orders/records", json={"records": records})
        reset = {"to": "latest", "topics": [{"topic": "orders"}]}
        ready = await client.post("/groups/billing/offsets", json=reset)
        assert (written.status_code, ready.status_code) == (201, 200)


@pytest.mark.thorough
@pytest.mark.usefixtures("furnished")
@described.parametrize()
@settings(
    max_examples=EXAMPLES,
    derandomize=True,
    database=None,
    deadline=None,
    suppress_health_check=list(HealthCheck),
)
def test_every_answer_is_as_described(case: schemathesis.Case):
    answer = case.call()
    case.validate_response(answer, checks=CHECKS.get_all())


def examples() -> Iterator[Any]:
    """Every example of a body, with the path that it is for."""
    schema = the_application().openapi()
    for path, operations in schema["paths"].items():
        for method, operation in operations.items():
            body = operation.get("requestBody", {}).get("content", {}).get("application/json")
            if body is not None:
                name = body["schema"]["$ref"].rpartition("/")[2]
                for example in schema["components"]["schemas"][name]["examples"]:
                    yield pytest.param(method, path, example, id=f"{method} {path} {example}")


@pytest.mark.parametrize(("method", "path", "example"), list(examples()))
def test_every_example_works_as_given(furnished: Home, method: str, path: str, example: Any):
    where = path.format(topic="orders", group="billing")

    async def ask() -> httpx.Response:
        transport = httpx.ASGITransport(furnished.site.app)
        async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client:
            return await client.request(method, where, json=example)

    answer = furnished.run(ask())
    assert answer.is_success, answer.text


def test_every_body_has_an_example():
    bodies = {param.values[1] for param in examples()}
    assert len(bodies) == 5
