"""samsa produce: lines from standard input to a topic."""

import argparse
import sys
import time
import zlib
from collections.abc import Iterator
from typing import Any, BinaryIO

from samsa.records.record import Record, build
from samsa.wire.apis import ApiKey
from samsa.wire.messages import produce

from .client import Client, check
from .options import add_bootstrap, add_command

LINES_AT_ONCE = 500
LAST_BY_NAME = 12
EXAMPLES = """
examples:
  echo hello | samsa produce greetings
  samsa produce orders < orders.jsonl                        a record for each line
  echo 'en:hello' | samsa produce greetings --key-separator :
"""


def add_to(commands: Any) -> None:
    parser = add_command(
        commands,
        "produce",
        brief="write lines from standard input to a topic",
        description="Write each line of standard input as one record.",
        epilog=EXAMPLES,
    )
    parser.add_argument("topic", help="created if it does not exist and the broker allows it")
    parser.add_argument(
        "--partition", type=int, metavar="N", help="(by the key's hash; 0 without a key)"
    )
    parser.add_argument(
        "--key-separator", metavar="TEXT", help="a line is KEY TEXT VALUE; for example ':'"
    )
    add_bootstrap(parser)
    parser.set_defaults(run=run)


def run(given: argparse.Namespace) -> int:
    client = Client.of(given)
    partitions = len(client.topic(given.topic, create=True).partitions)
    written = 0
    for lines in _chunks(sys.stdin.buffer):
        by_partition: dict[int, list[Record]] = {}
        for line in lines:
            key, value = _split(line, given.key_separator)
            number = given.partition if given.partition is not None else _choose(key, partitions)
            batch = by_partition.setdefault(number, [])
            batch.append(Record(len(batch), time.time_ns() // 1_000_000, key, value, ()))
        send(client, given.topic, by_partition)
        written += len(lines)
    print(f"{written} record(s) written to {given.topic}", file=sys.stderr)
    return 0


def _chunks(stream: BinaryIO) -> Iterator[list[bytes]]:
    """Typed input is sent line by line; a pipe is read in larger steps."""
    most = 1 if stream.isatty() else LINES_AT_ONCE
    lines: list[bytes] = []
    for line in stream:
        lines.append(line.rstrip(b"\r\n"))
        if len(lines) >= most:
            yield lines
            lines = []
    if lines:
        yield lines


def _split(line: bytes, separator: str | None) -> tuple[bytes | None, bytes]:
    if separator is None:
        return None, line
    key, found, value = line.partition(separator.encode())
    return (key, value) if found else (None, line)


def _choose(key: bytes | None, partitions: int) -> int:
    return zlib.crc32(key) % partitions if key is not None else 0


def send(client: Client, topic: str, by_partition: dict[int, list[Record]]) -> None:
    data = [
        produce.PARTITION(index=number, records=build(records))
        for number, records in by_partition.items()
    ]
    row = produce.REQUEST(
        acks=-1,
        timeout_ms=30_000,
        topic_data=[produce.TOPIC(name=topic, partition_data=data)],
    )
    answer = client.ask(ApiKey.PRODUCE, row, at_most=LAST_BY_NAME)
    for partition in answer.responses[0].partition_responses:
        check(partition.error_code, partition.error_message, f"{topic}/{partition.index}")
