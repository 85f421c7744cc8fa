"""Shim, local API Gateway, functions, DynamoDB Local and versitygw, as the tests start them."""

import json
import os
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import NamedTuple

from harness.anchors import REPOSITORY
from harness.brokers import SAMSA

KEYS = {"AWS_ACCESS_KEY_ID": "gregor", "AWS_SECRET_ACCESS_KEY": "metamorphosis"}
REGION = {"AWS_DEFAULT_REGION": "us-east-1"}
STATS_S = 30
FAR = Path(__file__).parent / "far"
"""Functions whose stores are far away."""


class Chain(NamedTuple):
    """As the tools of the other sections want a broker."""

    address: str
    url: str
    """Of the WebSocket API, for those who do without the shim."""
    pid: int = os.getpid()
    side: str = SAMSA

    def started(self) -> int:
        """How many environments of the gateway function there have been."""
        root = self.url.replace("ws://", "http://").rpartition("/")[0]
        with urllib.request.urlopen(f"{root}/_local/stats", timeout=STATS_S) as answer:
            return int(json.load(answer)["started"]["gateway"])


@contextmanager
def a_chain(folder: Path, *options: str, **variables: str) -> Iterator[Chain]:
    """Options are those of `samsa local-api`; functions find the variables in their environment."""
    sys.path.insert(0, str(REPOSITORY / "tests"))
    from support.chain import local_api, shim
    from support.servers.dynamodb_local import dynamodb_local
    from support.servers.versitygw import versitygw
    from support.stores import make_bucket, places

    os.environ.update(KEYS | REGION)
    with ExitStack() as running:
        for name in ("dynamodb", "s3", "api"):
            (folder / name).mkdir(parents=True)
        dynamodb = running.enter_context(dynamodb_local(folder / "dynamodb"))
        s3 = running.enter_context(versitygw(folder / "s3", *KEYS.values()))
        make_bucket(s3)
        told = places((dynamodb, s3)) | variables
        url = running.enter_context(local_api(folder / "api", told, *options))
        yield Chain(running.enter_context(shim(folder / "api", url)), url)
