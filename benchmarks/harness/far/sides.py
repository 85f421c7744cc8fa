"""Samsa as it is, and as an older revision has it: each with `samsa up` and the bundle, on stores
that are far away. Both run on the same DynamoDB Local and versitygw, in tables of their own."""

import os
import re
import sys
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import NamedTuple

from harness.anchors import REPOSITORY
from harness.brokers import BrokerFailed, Samsa
from harness.bundle.chain import KEYS, REGION, Chain
from harness.process import ToolFailed, run, run_well, undisturbed
from harness.progress import say

from .calls import Calls

sys.path.append(str(REPOSITORY / "tests"))
from support.chain import local_api
from support.servers.dynamodb_local import dynamodb_local
from support.servers.processes import running
from support.servers.versitygw import versitygw
from support.stores import make_bucket, places

GIT_S = 60
COMPLAINT = re.compile(r"^\S+ (ERROR|CRITICAL) ")
"""It also warns that other machines cannot reach this one's loopback address."""
PROXY = Path(__file__).with_name("proxy.py")
SAMSA_PROGRAM = str(Path(sys.executable).with_name("samsa"))
ENVIRONMENTS = ("--environments", "24")

Endpoints = tuple[str, str]
"""Of DynamoDB and of S3."""


class Place(NamedTuple):
    """A table and a folder of objects of their own, behind a proxy of their own."""

    told: Mapping[str, str]
    """What functions find in their environment."""
    calls: Calls
    hold: Path
    """While it is there, puts are done and not answered."""


class Side(NamedTuple):
    side: str
    tree: Path
    endpoints: Endpoints
    up: Samsa
    up_calls: Calls
    chain: Chain
    chain_calls: Calls


@contextmanager
def a_tree(folder: Path, revision: str) -> Iterator[Path]:
    """A revision's files, in a worktree that is removed at the end."""
    git = ["git", "-C", REPOSITORY, "worktree"]
    try:
        with undisturbed():
            run_well([*git, "add", "--detach", folder, revision], GIT_S)
        yield folder
    except ToolFailed as failure:
        raise BrokerFailed(f"no worktree of {revision}: {failure}") from failure
    finally:
        with undisturbed():
            code, said = run([*git, "remove", "--force", folder], GIT_S)
            if code and folder.exists():
                say(f"the worktree {folder} is left: {said}")


@contextmanager
def both_stores(folder: Path) -> Iterator[Endpoints]:
    os.environ.update(KEYS | REGION)
    for name in ("dynamodb", "s3"):
        (folder / name).mkdir(parents=True)
    with (
        dynamodb_local(folder / "dynamodb") as dynamodb,
        versitygw(folder / "s3", *KEYS.values()) as s3,
    ):
        make_bucket(s3)
        yield dynamodb, s3


@contextmanager
def a_place(folder: Path, endpoints: Endpoints) -> Iterator[Place]:
    folder.mkdir(parents=True)
    (folder / "calls").touch()
    log = folder / "proxy.log"

    def listening() -> Endpoints | None:
        found = dict(re.findall(r"^(\w+) (http\S+)$", log.read_text(), re.MULTILINE))
        return (found["dynamodb"], found["s3"]) if len(found) == len(endpoints) else None

    with running([sys.executable, str(PROXY), *endpoints, str(folder)], log, listening) as proxied:
        yield Place(places(proxied), Calls(folder / "calls"), folder / "hold")


def of_tree(tree: Path) -> dict[str, str]:
    """The environment in which programs of this Python are those of the tree."""
    sources = [tree / folder / "src" for folder in ("layers/samsa", "websocket_api", "broker")]
    if not sources[-1].is_dir():
        _name_main_as_now(sources[0])
    variables = {"PYTHONPATH": os.pathsep.join(str(each) for each in sources if each.is_dir())}
    which = "import samsa_broker.cli.main, samsa; print(samsa.__file__)"
    code, said = run([sys.executable, "-c", which], GIT_S, variables)
    if code or not said.startswith(str(sources[0])):
        raise BrokerFailed(f"Samsa would not run from {tree}: {said}")
    return variables


def _name_main_as_now(source: Path) -> None:
    """In a tree of before the command line had a distribution of its own."""
    folder = source / "samsa_broker" / "cli"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "main.py").write_text("from samsa.cli.main import main\n")


@contextmanager
def a_broker(name: str, tree: Path, folder: Path, place: Place) -> Iterator[Samsa]:
    stores = ("--ledger", place.told["SAMSA_LEDGER"], "--objects", place.told["SAMSA_OBJECTS"])
    broker = Samsa(folder, ("--no-http", *stores), of_tree(tree))
    broker.side, broker.complaint = name, COMPLAINT
    try:
        broker.start()
        yield broker
    finally:
        with undisturbed():
            broker.stop()
            for line in broker.first_complaint:
                say(f"{name} logged: {line[:300]}")


@contextmanager
def a_far_chain(name: str, tree: Path, folder: Path, place: Place) -> Iterator[Chain]:
    folder.mkdir()
    variables = of_tree(tree)
    with ExitStack() as started:
        told = {**place.told, **variables}
        url = started.enter_context(local_api(folder, told, *ENVIRONMENTS))
        command = [SAMSA_PROGRAM, "shim", "--url", url, "--no-sign", "--listen", "127.0.0.1:0"]
        log = folder / "shim.log"

        def listening() -> str | None:
            found = re.search(r"Kafka clients reach .* at (\S+)", log.read_text())
            return found[1] if found else None

        address = started.enter_context(running(command, log, listening, **variables))
        yield Chain(address, url, side=name)


@contextmanager
def a_side(name: str, tree: Path, folder: Path, endpoints: Endpoints) -> Iterator[Side]:
    with ExitStack() as started:
        here = started.enter_context(a_place(folder / "up-stores", endpoints))
        up = started.enter_context(a_broker(name, tree, folder / "up", here))
        there = started.enter_context(a_place(folder / "chain-stores", endpoints))
        chain = started.enter_context(a_far_chain(name, tree, folder / "chain", there))
        yield Side(name, tree, endpoints, up, here.calls, chain, there.calls)
