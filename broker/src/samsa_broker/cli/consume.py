"""samsa consume: a topic's records to standard output."""

import argparse
import json
import sys
from typing import TYPE_CHECKING, Any

from samsa.records.batch import headers
from samsa.records.record import Record, records
from samsa.wire.apis import ApiKey
from samsa.wire.errors import ErrorCode
from samsa.wire.messages import fetch

from .client import Client, check
from .options import add_bootstrap, add_command, add_registry
from .topics import EARLIEST, LATEST, offsets_at

if TYPE_CHECKING:
    from .decoding import Decoding

LAST_BY_NAME = 12
EXAMPLES = """
examples:
  samsa consume orders                          all of it, and then whatever comes; Ctrl-C ends it
  samsa consume orders --until-end --json       with offsets, keys, headers and times
  samsa consume orders --partition 3 --from 1200 --count 10
  samsa consume orders --from latest
  samsa consume orders --schema                 Avro, JSON and Protobuf as JSON, by the registry
"""


def add_to(commands: Any) -> None:
    parser = add_command(
        commands,
        "consume",
        brief="print a topic's records",
        description="Print records, one line each, from the beginning; then wait for more.",
        epilog=EXAMPLES,
    )
    parser.add_argument("topic", help="its name")
    parser.add_argument("--partition", type=int, metavar="N", help="only this one (all)")
    parser.add_argument(
        "--from", dest="start", default="earliest", metavar="WHERE",
        help="earliest, latest, or an offset (%(default)s)",
    )  # fmt: skip
    parser.add_argument("--count", type=int, metavar="N", help="stop after N records")
    parser.add_argument("--until-end", action="store_true", help="stop at the end of the topic")
    parser.add_argument("--json", action="store_true", help="one JSON object per record")
    parser.add_argument(
        "--schema", action="store_true",
        help="show what serializers have written as JSON, by the schemas of a registry",
    )  # fmt: skip
    add_registry(parser)
    add_bootstrap(parser)
    parser.set_defaults(run=run)


def run(given: argparse.Namespace) -> int:
    decoding = _decoding(given) if given.schema else None
    client = Client.of(given)
    topic = client.topic(given.topic)
    numbers = sorted(partition.partition_index for partition in topic.partitions)
    if given.partition is not None:
        numbers = [given.partition]
    at = _starts(client, given, numbers)
    ends = offsets_at(client, given.topic, numbers, LATEST) if given.until_end else {}
    left = given.count if given.count is not None else -1
    while left != 0 and not (given.until_end and all(at[n] >= ends[n] for n in numbers)):
        for number, found, after in fetched(client, given.topic, at):
            for record in found:
                if left == 0 or (given.until_end and record.offset >= ends[number]):
                    break
                print(_line(number, record, given.json, decoding))
                left -= 1
            at[number] = after
        sys.stdout.flush()
    return 0


def _starts(client: Client, given: argparse.Namespace, numbers: list[int]) -> dict[int, int]:
    if given.start.isdigit():
        return dict.fromkeys(numbers, int(given.start))
    where = {"earliest": EARLIEST, "latest": LATEST}.get(given.start)
    if where is None:
        raise SystemExit(f"samsa: --from is earliest, latest or an offset, not {given.start!r}")
    return offsets_at(client, given.topic, numbers, where)


def fetched(client: Client, name: str, at: dict[int, int]) -> list[tuple[int, list[Record], int]]:
    """For each partition: the records from its offset on, and the offset after them."""
    asked = [
        fetch.PARTITION(partition=n, fetch_offset=offset, partition_max_bytes=1 << 20)
        for n, offset in at.items()
    ]
    row = fetch.REQUEST(
        max_wait_ms=1000,
        min_bytes=1,
        max_bytes=8 << 20,
        topics=[fetch.TOPIC(topic=name, partitions=asked)],
    )
    got = []
    for partition in client.ask(ApiKey.FETCH, row, at_most=LAST_BY_NAME).responses[0].partitions:
        number = partition.partition_index
        what = f"{name}/{number} at offset {at[number]}"
        message = None
        if partition.error_code == ErrorCode.OFFSET_OUT_OF_RANGE:
            message = f"the log ends at {partition.high_watermark}; try --from earliest"
        check(partition.error_code, message, what)
        data = partition.records or b""
        found, after = [], at[number]
        for position, header in headers(data):
            found += [r for r in records(data, position) if r.offset >= at[number]]
            after = header.next_offset
        got.append((number, found, after))
    return got


def _decoding(given: argparse.Namespace) -> "Decoding":
    from .decoding import Decoding  # only a few ask for it
    from .registry_client import RegistryClient

    return Decoding(RegistryClient.of(given))


def _line(number: int, record: Record, as_json: bool, decoding: "Decoding | None") -> str:
    key, value = decoding.of(record) if decoding is not None else (None, None)
    if not as_json:
        return value or _text(record.value) or ""
    return json.dumps(
        {
            "partition": number,
            "offset": record.offset,
            "timestamp": record.timestamp,
            "key": json.loads(key) if key else _text(record.key),
            "value": json.loads(value) if value else _text(record.value),
            "headers": [[name, _text(value)] for name, value in record.headers],
        },
        ensure_ascii=False,
    )


def _text(data: bytes | None) -> str | None:
    return None if data is None else bytes(data).decode("utf-8", "backslashreplace")
