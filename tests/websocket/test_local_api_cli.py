"""`samsa local-api` as a command: where it listens, how it ends, what it says when it cannot."""

import asyncio
import json
import os
import re
import signal
import socket
import subprocess
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from support.broker import SAMSA
from support.local_api import ask
from support.stores import ACCESS_KEY, SECRET_KEY
from support.waiting import eventually
from websockets.asyncio.client import connect

FUNCTIONS = Path(__file__).with_name("functions")
STORES = ["--ledger", "dynamodb://samsa?endpoint=http://127.0.0.1:1", "--objects", "s3://samsa"]
"""Which are nowhere: the functions here need none."""
URL = re.compile(r"ws://127\.0\.0\.1:\d+/\S+")


@contextmanager
def local_api(folder: Path, *options: str) -> Iterator[tuple[subprocess.Popen[bytes], str]]:
    command = [str(SAMSA), "local-api", "--port", "0", *STORES, "--no-check"]
    command += ["--functions", str(FUNCTIONS)]
    out, log = folder / "stdout", folder / "stderr"
    with out.open("wb") as stdout, log.open("wb") as stderr:
        process = subprocess.Popen(
            [*command, *options],
            stdout=stdout,
            stderr=stderr,
            env={**os.environ, "EVENTS": str(folder / "events")},
        )
    try:
        yield process, eventually(lambda: URL.search(out.read_text()), 20)[0]
    finally:
        process.kill()
        process.wait()


async def asked(url: str, text: str) -> str:
    async with connect(url) as client:
        return await ask(client, text)


def gone(pid: int) -> bool:
    return not Path(f"/proc/{pid}").exists()


def test_it_serves_and_ends_with_its_functions_on_sigterm(tmp_path: Path):
    with local_api(tmp_path, "--stage", "dev") as (process, url):
        assert url.endswith("/dev")
        function = int(asyncio.run(asked(url, "pid")))
        process.send_signal(signal.SIGTERM)
        assert process.wait(10) == 0
        assert gone(function)
    assert "Traceback" not in (tmp_path / "stderr").read_text()


@pytest.mark.skipif(os.uname().sysname != "Linux", reason="only Linux ends children with a parent")
def test_killed_it_leaves_no_frozen_function_behind(tmp_path: Path):
    with local_api(tmp_path) as (process, url):
        function = int(asyncio.run(asked(url, "pid")))
        process.kill()
        process.wait()
        assert eventually(lambda: gone(function))


def test_limits_come_from_options(tmp_path: Path):
    with local_api(tmp_path, "--integration-timeout", "2") as (_, url):
        assert "timed out" in asyncio.run(asked(url, "sleep 20"))


def test_chaos_comes_from_options(tmp_path: Path):
    with (
        local_api(tmp_path, "--chaos-kill", "1") as (_, url),
        pytest.raises(Exception, match="HTTP 502"),
    ):
        asyncio.run(asked(f"{url}?sleep=5", "echo never"))


def failing(*options: str, **variables: str) -> str:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("AWS_")}
    done = subprocess.run(
        [str(SAMSA), "local-api", *STORES, *options],
        capture_output=True,
        text=True,
        timeout=30,
        env={**kept, **variables},
        check=False,
    )
    assert done.returncode != 0
    assert "Traceback" not in done.stderr
    return done.stderr


def test_a_port_that_is_taken_is_named():
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        said = failing("--port", port, "--no-check", "--functions", str(FUNCTIONS))
    assert f"port {port} on 127.0.0.1 is taken" in said


def test_a_folder_without_functions_is_named(tmp_path: Path):
    assert f"{tmp_path} holds no gateway/app.py" in failing("--functions", str(tmp_path))


def test_signing_without_credentials_says_what_is_missing():
    said = failing("--sign", "--port", "0", "--functions", str(FUNCTIONS))
    assert "--sign needs AWS_ACCESS_KEY_ID in the environment" in said


def test_functions_have_no_stores_on_one_machine():
    assert "is not dynamodb://NAME" in failing("--ledger", "sqlite:///ledger.db")


KEYS = {"AWS_ACCESS_KEY_ID": "key", "AWS_SECRET_ACCESS_KEY": "secret", "AWS_REGION": "us-east-1"}
NO_KEYS = {
    "AWS_CONFIG_FILE": "/dev/null",
    "AWS_SHARED_CREDENTIALS_FILE": "/dev/null",
    "AWS_EC2_METADATA_DISABLED": "true",
}
MISSING = {
    "DynamoDB": (KEYS, STORES[1], "no DynamoDB answers at http://127.0.0.1:1"),
    "credentials": (NO_KEYS, STORES[1], "there are no AWS credentials"),
    "a region": ({**KEYS, **NO_KEYS, "AWS_REGION": ""}, "dynamodb://samsa", "no AWS region"),
    "a URL": (KEYS, "dynamodb://samsa?endpoint=127.0.0.1:1", "'127.0.0.1:1' is no URL"),
    "an option": (KEYS, "dynamodb://samsa?endpiont=http://x", "there is no option 'endpiont'"),
}


@pytest.mark.parametrize(("variables", "ledger", "wanted"), MISSING.values(), ids=MISSING.keys())
def test_what_is_missing_is_said_at_start_in_one_line(
    variables: dict[str, str], ledger: str, wanted: str
):
    said = failing("--port", "0", "--ledger", ledger, **variables)
    [line] = said.strip().splitlines()
    assert wanted in line


def test_a_bucket_that_is_missing_is_said_at_start(local_dynamodb: str, versity: str):
    ledger = f"dynamodb://samsa?endpoint={local_dynamodb}"
    keys = {"AWS_ACCESS_KEY_ID": ACCESS_KEY, "AWS_SECRET_ACCESS_KEY": SECRET_KEY}
    objects = f"s3://nobodys?endpoint={versity}"
    said = failing("--port", "0", "--ledger", ledger, "--objects", objects, **keys)
    assert f"there is no bucket 'nobodys' at {versity}. Make it" in said


def test_stores_are_named_both_or_neither():
    command = [str(SAMSA), "local-api", "--ledger", STORES[1]]
    done = subprocess.run(command, capture_output=True, text=True, timeout=30, check=False)
    assert done.returncode == 1
    assert "--ledger and --objects go together" in done.stderr


@contextmanager
def embedded(folder: Path, *options: str) -> Iterator[str]:
    """With the real functions, and stores in a folder; the URL of its counters."""
    out = folder / "stdout"
    command = [str(SAMSA), "local-api", "--port", "0", "--data", str(folder / "data"), *options]
    with out.open("wb") as output:
        process = subprocess.Popen(command, stdout=output, stderr=subprocess.STDOUT)
    try:
        yield eventually(lambda: re.search(r"http://\S+/_local/stats", out.read_text()), 20)[0]
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait()


def stats(url: str) -> dict[str, Any]:
    with urllib.request.urlopen(url, timeout=10) as answer:
        found: dict[str, Any] = json.load(answer)
    return found


def test_the_janitor_of_the_embedded_stores_is_called_again_and_again(tmp_path: Path):
    with embedded(tmp_path, "--janitor-every", "0.1") as url:
        assert eventually(lambda: stats(url)["invocations"] >= 2, 30)
        found = stats(url)
    assert found["started"]["janitor"] == 1
    assert found["failed"] == 0
    assert found["stores"]["calls"]["Query"] > 0


def test_a_broker_refuses_the_folder_of_functions(tmp_path: Path):
    with embedded(tmp_path):
        pass
    data = str(tmp_path / "data")
    before = sorted(path.name for path in (tmp_path / "data").iterdir())
    done = subprocess.run(
        [str(SAMSA), "up", "--port", "0", "--data", data],
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )
    assert done.returncode == 1
    assert f"{data} holds the table of functions: start samsa local-api" in done.stderr
    assert sorted(path.name for path in (tmp_path / "data").iterdir()) == before


def test_a_second_gateway_on_one_folder_is_refused(tmp_path: Path):
    with embedded(tmp_path):
        done = subprocess.run(
            [str(SAMSA), "local-api", "--port", "0", "--data", str(tmp_path / "data")],
            capture_output=True,
            text=True,
            timeout=30,
            check=False,
        )
    assert done.returncode == 1
    [line] = done.stderr.strip().splitlines()
    assert "another samsa local-api or demo uses" in line
