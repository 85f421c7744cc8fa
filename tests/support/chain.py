"""The serverless bundle as a broker for tests: shim, local API Gateway, functions in processes that
freeze, and stores: DynamoDB Local and a real S3 server, or those that are embedded."""

import json
import re
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from support.broker import SAMSA, Broker
from support.servers.processes import running

Environment = dict[str, str]
EMBEDDED: Environment = {"SAMSA_GROUP_INITIAL_REBALANCE_DELAY_MS": "0"}
"""Without URLs of stores: they are in a folder of the test."""


@dataclass(frozen=True)
class Chain(Broker):
    root: str = ""
    """Where the local API Gateway answers HTTP."""

    def stats(self) -> dict[str, Any]:
        with urllib.request.urlopen(f"{self.root}/_local/stats", timeout=30) as answer:
            found: dict[str, Any] = json.load(answer)
        return found

    def chaos(self, **asked: Any) -> None:
        data = json.dumps(asked).encode()
        urllib.request.urlopen(f"{self.root}/_local/chaos", data, timeout=30).close()


@contextmanager
def a_chain(folder: Path, environment: Environment, *options: str) -> Iterator[Chain]:
    """Options are those of `samsa local-api`."""
    with local_api(folder, environment, *options) as url, shim(folder, url) as bootstrap:
        yield Chain(bootstrap, root=url.replace("ws://", "http://").rpartition("/")[0])


@contextmanager
def local_api(folder: Path, environment: Environment, *options: str) -> Iterator[str]:
    command = [str(SAMSA), "local-api", "--port", "0", "--log-level", "warning", *options]
    if "SAMSA_LEDGER" in environment:
        command += ["--ledger", environment["SAMSA_LEDGER"]]
        command += ["--objects", environment["SAMSA_OBJECTS"]]
    else:
        command += ["--data", str(folder / "data")]
    log = folder / "local-api.log"
    # Functions find in theirs what it has in its environment.
    with running(command, log, lambda: _found(r"listening on (\S+)", log), **environment) as url:
        yield url


@contextmanager
def shim(
    folder: Path, url: str, *options: str, name: str = "shim", **environment: str
) -> Iterator[str]:
    """It signs if it is given options, which say as whom."""
    command = [str(SAMSA), "shim", "--url", url, "--listen", "127.0.0.1:0"]
    command += options or ["--no-sign"]
    log = folder / f"{name}.log"
    ready = lambda: _found(r"Kafka clients reach .* at (\S+)", log)  # noqa: E731
    with running(command, log, ready, **environment) as where:
        yield where


def _found(pattern: str, log: Path) -> str | None:
    found = re.search(pattern, log.read_text())
    return found[1] if found else None
