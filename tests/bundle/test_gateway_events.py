"""The sample events, through the function itself in a process of its own."""

import json
import os
import subprocess
import sys
from pathlib import Path

from bundle.given_gateway import EVENTS, row_of

from samsa.wire.apis import APIS, ApiKey
from samsa_websocket.envelope import Reply, decode

FUNCTION = Path(__file__).parents[2] / "functions" / "gateway"
RUN = """
import json, sys
import app
answers = [app.handler(json.load(open(path)), None) for path in sys.argv[1:]]
json.dump({"answers": answers, "modules": sorted(sys.modules)}, sys.stdout)
"""
NOT_ON_THE_HOT_PATH = {
    "boto3",
    "botocore",
    "prometheus_client",
    "samsa.groups",
    "samsa.handlers.k01_fetch",
    "sqlite3",
    "uvloop",
}
"""Neither SDKs nor what this request does not need."""


def run(environment: dict[str, str], *names: str) -> dict:
    paths = [str(EVENTS / f"{name}.json") for name in names]
    done = subprocess.run(
        [sys.executable, "-c", RUN, *paths],
        cwd=FUNCTION,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_the_sample_events_connect_ask_and_leave(environment: dict[str, str]):
    done = run(environment, "connect", "default", "disconnect")
    connected, asked, left = done["answers"]
    assert connected == left == {"statusCode": 200}
    assert asked["statusCode"] == 200
    reply = decode(asked["body"])
    assert isinstance(reply, Reply)
    assert reply.seq == 1
    versions = row_of(ApiKey.API_VERSIONS, 3, reply, number=1)
    assert {api.api_key for api in versions.api_keys} == set(APIS)


def test_a_cold_start_imports_only_what_its_first_request_needs(environment: dict[str, str]):
    environment.pop("SAMSA_GROUP_INITIAL_REBALANCE_DELAY_MS")
    done = run(environment, "connect", "default")
    assert not NOT_ON_THE_HOT_PATH & set(done["modules"])


def test_a_function_that_is_not_told_its_table_says_so(environment: dict[str, str]):
    done = subprocess.run(
        [sys.executable, "-c", "import app"],
        cwd=FUNCTION,
        env={**os.environ, **environment, "SAMSA_LEDGER": ""},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert "SAMSA_LEDGER is not set" in done.stderr
