"""What was built runs: in a fresh process, by Lambda's own runtime client, with nothing but the
function's folder and the layer on its path. No boto3: Lambda has one, but nobody waits for it."""

import json
import os
import platform
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from bundle.given_gateway import EVENTS, row_of
from support.needs import lambda_client
from support.runtime_api import RuntimeApi, runtime_api
from support.sam import ROOT

from samsa.wire.apis import APIS, ApiKey
from samsa_websocket.envelope import Reply, decode
from samsa_websocket.local_gateway import http_events


@pytest.fixture(scope="session")
def client() -> Path:
    """A Python that has Lambda's runtime client and nothing else."""
    return lambda_client()


@pytest.fixture(scope="session")
def artifacts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """As `sam build` makes them, but for the machine and the Python that run this test."""
    folder = tmp_path_factory.mktemp("artifacts")
    here = {
        **os.environ,
        "ARCH": platform.machine(),
        "PYTHON": sys.executable,
        "PYTHON_VERSION": f"{sys.version_info.major}.{sys.version_info.minor}",
    }
    for source, target in (
        ("layers/samsa", "SamsaLayer"),
        ("functions/gateway", "GatewayFunction"),
        ("functions/janitor", "JanitorFunction"),
        ("functions/http", "HttpFunction"),
    ):
        made = folder / target
        made.mkdir()
        command = ["make", "-C", str(ROOT / source), f"build-{target}", f"ARTIFACTS_DIR={made}"]
        done = subprocess.run(command, env=here, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
    return folder


@contextmanager
def function(
    artifacts: Path, client: Path, name: str, variables: dict[str, str], log: Path
) -> Iterator[RuntimeApi]:
    with runtime_api() as api, log.open("wb") as out:
        process = subprocess.Popen(
            [str(client), "-m", "awslambdaric", "app.handler"],
            cwd=artifacts / name,
            stdout=out,
            stderr=out,
            env={
                "PATH": "/usr/bin:/bin",
                "PYTHONPATH": f"{artifacts / name}:{artifacts / 'SamsaLayer' / 'python'}",
                "AWS_LAMBDA_RUNTIME_API": api.address,
                "AWS_LAMBDA_FUNCTION_NAME": name,
                "AWS_REGION": "us-east-1",
                "AWS_ACCESS_KEY_ID": os.environ["AWS_ACCESS_KEY_ID"],
                "AWS_SECRET_ACCESS_KEY": os.environ["AWS_SECRET_ACCESS_KEY"],
                **variables,
            },
        )
        try:
            yield api
        finally:
            process.kill()
            process.wait()


def event(name: str) -> Any:
    return json.loads((EVENTS / f"{name}.json").read_text())


def test_the_gateway_answers_its_sample_events(
    artifacts: Path, client: Path, environment: dict[str, str], tmp_path: Path
):
    with function(artifacts, client, "GatewayFunction", environment, tmp_path / "log") as api:
        assert api.invoke(event("connect"))["statusCode"] == 200
        answer = api.invoke(event("default"))
        assert answer["statusCode"] == 200
        reply = decode(answer["body"])
        assert isinstance(reply, Reply)
        versions = row_of(ApiKey.API_VERSIONS, 3, reply, number=1)
        assert {entry.api_key for entry in versions.api_keys} == set(APIS)
        assert api.invoke(event("disconnect"))["statusCode"] == 200


def test_the_janitor_does_a_round(
    artifacts: Path, client: Path, environment: dict[str, str], tmp_path: Path
):
    with function(artifacts, client, "JanitorFunction", environment, tmp_path / "log") as api:
        assert api.invoke(event("schedule")) == {}
        assert api.invoke(event("schedule")) == {}


def test_the_http_api_writes_and_reads_and_tells_how_the_stores_are(
    artifacts: Path, client: Path, environment: dict[str, str], tmp_path: Path
):
    with function(artifacts, client, "HttpFunction", environment, tmp_path / "log") as api:
        well = api.invoke(event("http"))
        assert (well["statusCode"], json.loads(well["body"])["status"]) == (200, "ok")
        asked = event("http")
        asked["rawPath"] = asked["requestContext"]["http"]["path"] = "/openapi.json"
        docs = api.invoke(asked)
        assert "/health" in json.loads(docs["body"])["paths"]
        written = api.invoke(event("http-produce"))
        assert written["statusCode"] == 201, written
        assert json.loads(written["body"])["records"][0]["offset"] == 0
        found = json.loads(api.invoke(event("http-read"))["body"])
        assert [each["value"] for each in found["records"]] == [{"json": {"dear": "Gregor"}}]
        assert found["records"][0]["key"] == {"text": "father"}
    nowhere = "s3://samsa?region=us-east-1&endpoint=http://127.0.0.1:1"
    variables = {**environment, "SAMSA_OBJECTS": nowhere}
    with function(artifacts, client, "HttpFunction", variables, tmp_path / "log") as api:
        ill = api.invoke(event("http"))
        told = http_events.response(ill)
        assert told.status_code == json.loads(told.body)["status"] == 503
        assert told.headers["content-type"] == "application/problem+json"


def test_with_acls_the_http_api_knows_its_clients_by_their_signature(
    artifacts: Path, client: Path, environment: dict[str, str], tmp_path: Path
):
    gregor = "User:arn:aws:iam::123456789012:user/gregor"
    variables = {**environment, "SAMSA_ACLS": "on", "SAMSA_SUPER_USERS": f"User:nobody;{gregor}"}
    with function(artifacts, client, "HttpFunction", variables, tmp_path / "log") as api:
        assert api.invoke(event("http-produce"))["statusCode"] == 201
        assert api.invoke(event("http-read"))["statusCode"] == 200
        for name in ("http-produce", "http-read"):
            of_another = event(name)
            caller = of_another["requestContext"]["authorizer"]["iam"]
            caller["userArn"] = "arn:aws:sts::123456789012:assumed-role/Reader/gregor"
            refused = api.invoke(of_another)
            assert refused["statusCode"] == 403, refused
            told = json.loads(http_events.response(refused).body)
            assert told["kafka_error"] == "TOPIC_AUTHORIZATION_FAILED"
        unsigned = event("http-read")
        del unsigned["requestContext"]["authorizer"]
        assert api.invoke(unsigned)["statusCode"] == 401
    log = (tmp_path / "log").read_text()
    assert "operation refused" in log
