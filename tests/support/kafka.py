"""Apache Kafka itself, for tests that ask whether Samsa answers as it does.

Version 4.3.1 from Maven, built once into the cache of builds: one node, on loopback, with its
defaults but for what a single node needs.
"""

import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from support.broker import Broker, stop
from support.needs import apache_kafka

START_SECONDS = 60
PROPERTIES = """\
process.roles=broker,controller
node.id=0
listeners=PLAINTEXT://127.0.0.1:{port},CONTROLLER://127.0.0.1:{controller}
advertised.listeners=PLAINTEXT://127.0.0.1:{port}
controller.listener.names=CONTROLLER
controller.quorum.bootstrap.servers=127.0.0.1:{controller}
log.dirs={folder}/data
offsets.topic.replication.factor=1
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
group.initial.rebalance.delay.ms=0
"""


def kafka_java(heap: str, *options: str) -> list[str]:
    """The command that runs a class with Kafka and its tools on the path."""
    target = apache_kafka()
    short_lived = ("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xshare:auto")
    path = f"{target}/classes:{target}/dependency/*"
    return ["java", f"-Xmx{heap}", *short_lived, *options, "-cp", path]


@contextmanager
def a_kafka(folder: Path, *settings: str) -> Iterator[Broker]:
    """Settings are lines of its properties. They may name `{port}` and `{controller}`."""
    command = kafka_java("512M")
    port, controller = free_ports(2)
    properties = folder / "server.properties"
    text = "\n".join((PROPERTIES, *settings))
    properties.write_text(text.format(port=port, controller=controller, folder=folder))
    with (folder / "stdout").open("wb") as out, (folder / "stderr").open("wb") as err:
        process = subprocess.Popen(
            [*command, "SingleNode", str(properties)],
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=err,
        )
    try:
        wait_until_it_listens(process, port, folder)
        yield Broker(f"127.0.0.1:{port}", ours=False)
    finally:
        stop(process)


def free_ports(count: int) -> list[int]:
    held = [socket.socket() for _ in range(count)]
    try:
        for one in held:
            one.bind(("127.0.0.1", 0))
        return [one.getsockname()[1] for one in held]
    finally:
        for one in held:
            one.close()


def wait_until_it_listens(process: subprocess.Popen[bytes], port: int, folder: Path) -> None:
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline and process.poll() is None:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.1)
    raise RuntimeError(f"Apache Kafka did not start:\n{(folder / 'stderr').read_text()[-3000:]}")
