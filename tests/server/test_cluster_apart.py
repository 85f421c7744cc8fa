"""Two machines of one cluster, each with a network of its own and nothing but a cable between them.

The machines are Linux network namespaces: both processes see the same files, so they share a SQLite
ledger as containers on one volume do. Both listen on all of their addresses, as in a container.
"""

import ctypes
import json
import os
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from server.peer import Peer
from server.talk import create, describe, fetch_row, records_in, values, write
from support.broker import SAMSA, said, stop
from support.waiting import eventually

from samsa.wire.apis import ApiKey

PORT = 9092
HOLD = "import time; print('here', flush=True); time.sleep(600)"


@dataclass(frozen=True)
class Machine:
    address: str
    pid: int
    """A process that keeps the network alive."""
    data: Path

    def run(self, *command: str) -> None:
        subprocess.run(self.inside(*command), check=True, capture_output=True)

    def inside(self, *command: str) -> list[str]:
        return ["nsenter", "-t", str(self.pid), "-n", *command]

    def peer(self) -> Peer:
        """A client on the machine itself: a socket stays in the network that it was made in."""
        with open(f"/proc/{self.pid}/ns/net") as there, open("/proc/self/ns/net") as here:
            _enter(there.fileno())
            try:
                return Peer((self.address, PORT))
            finally:
                _enter(here.fileno())


def _enter(namespace: int) -> None:
    if ctypes.CDLL(None, use_errno=True).setns(namespace, 0):
        raise OSError(ctypes.get_errno(), "setns")


@contextmanager
def a_machine(address: str, data: Path) -> Iterator[Machine]:
    command = ["unshare", "-n", sys.executable, "-c", HOLD]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"here\n"
        try:
            yield Machine(address, holder.pid, data)
        finally:
            holder.kill()


def connect(one: Machine, other: Machine) -> None:
    ends = [("name", "cable", "netns", str(machine.pid)) for machine in (one, other)]
    cable = ["ip", "link", "add", *ends[0], "type", "veth", "peer", *ends[1]]
    subprocess.run(cable, check=True, capture_output=True)
    for machine in (one, other):
        machine.run("ip", "address", "add", f"{machine.address}/24", "dev", "cable")
        for link in ("cable", "lo"):
            machine.run("ip", "link", "set", link, "up")
        machine.run("ip", "route", "add", "default", "dev", "cable")


@contextmanager
def a_samsa_on(machine: Machine, folder: Path, host: str) -> Iterator[Machine]:
    folder.mkdir()
    command = [str(SAMSA), "up", "--host", host, "--no-http", "--data", str(machine.data)]
    with (folder / "stdout").open("wb") as out, (folder / "stderr").open("wb") as err:
        process = subprocess.Popen(machine.inside(*command), stdout=out, stderr=err)
    try:
        assert eventually(lambda: "listening" in (folder / "stdout").read_text(), 30), said(folder)
        yield machine
    finally:
        stop(process)
    assert "cannot wake" not in (folder / "stderr").read_text()


def refusal() -> str | None:
    """Why there can be no such machines here."""
    missing = [tool for tool in ("ip", "nsenter", "unshare") if shutil.which(tool) is None]
    if missing:
        return f"there is no {missing[0]}"
    if os.geteuid():
        return "only root makes network namespaces"
    made = subprocess.run(["unshare", "-n", "true"], capture_output=True, check=False)
    return made.stderr.decode().strip() if made.returncode else None


@pytest.fixture(scope="module", params=["0.0.0.0", "::"])
def machines(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[list[Machine]]:
    why = refusal()
    if why is not None:
        pytest.skip(f"two machines with networks of their own: {why}")
    folder = tmp_path_factory.mktemp("apart")
    with ExitStack() as stack:
        found = [stack.enter_context(a_machine(f"10.77.0.{n}", folder / "data")) for n in (1, 2)]
        connect(*found)
        for machine in found:
            stack.enter_context(a_samsa_on(machine, folder / machine.address, request.param))
        yield found


def watchers(machine: Machine) -> list[str]:
    with closing(sqlite3.connect(machine.data / "ledger.db")) as ledger:
        rows = ledger.execute("SELECT watchers FROM heads").fetchall()
    return [watcher for (row,) in rows for watcher in json.loads(row)]


def test_a_fetch_parked_on_one_machine_wakes_when_the_other_is_written_to(machines):
    with machines[0].peer() as producer, machines[1].peer() as consumer:
        for n, topic in enumerate("abc"):
            create(producer, topic)
            consumer.send(ApiKey.FETCH, 12, fetch_row(topic, 0, wait_ms=60_000))
            assert eventually(lambda n=n: len(watchers(machines[0])) == n + 1)
            write(producer, topic, b"x")
            got = consumer.answer().responses[0].partitions[0]
            assert values(records_in(got.records)) == [b"x"]
    hosts = {watcher.partition("|")[0] for watcher in watchers(machines[0])}
    assert hosts == {machines[1].address}


def addresses(machine: Machine) -> dict[int, tuple[str, int]]:
    with machine.peer() as peer:
        return {node.node_id: (node.host, node.port) for node in describe(peer).brokers}


def test_each_machine_names_both_by_addresses_that_lead_there(machines):
    named = {node: (machine.address, PORT) for node, machine in enumerate(machines)}
    for machine in machines:
        assert eventually(lambda machine=machine: addresses(machine) == named)
