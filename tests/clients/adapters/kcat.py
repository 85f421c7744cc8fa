"""kcat: librdkafka from the shell. It has no admin, and sets no timestamps."""

import json
import re
import subprocess
from collections.abc import Mapping, Sequence
from typing import NoReturn

from clients.client import PATIENCE, Cluster, Headers, Isolation, Record, Start
from support.tools import require

KEY_ENDS = "<~key>"
RECORD_ENDS = "<~record>"
LAYOUT = r"%p %o %T %K %S %h\n%k%s\n"
OFFSETS = {"earliest": "beginning", "latest": "end"}
DELIVERED = re.compile(rb"Message delivered to partition \d+ \(offset (\d+)\)")


class Kcat:
    def __init__(self, bootstrap: str, **settings: str) -> None:
        self.command = [require("kcat", "it is one of the clients under test"), "-b", bootstrap]
        self.command += [f"-X{name}={value}" for name, value in settings.items()]

    def produce(
        self,
        topic: str,
        records: Sequence[Record],
        codec: str = "none",
        partition: int | None = None,
        max_bytes: int | None = None,
    ) -> list[int]:
        options = ["-P", "-t", topic, "-z", codec, "-vvv"]
        options += [] if partition is None else ["-p", str(partition)]
        options += [f"-Xmessage.max.bytes={max_bytes}"] if max_bytes else []
        # Headers are an option of the whole run, so each record gets its own.
        return [self.produce_one(options, record) for record in records]

    def produce_one(self, options: list[str], record: Record) -> int:
        extra = ["-D", RECORD_ENDS, *(f"-H{name}={text(raw)}" for name, raw in record.headers)]
        extra += ["-Z"] if record.value is None else []
        extra += ["-K", KEY_ENDS] if record.key is not None else []
        start = b"" if record.key is None else record.key + KEY_ENDS.encode()
        said = self.run([*options, *extra], start + (record.value or b"")).stderr
        delivered = DELIVERED.search(said)
        if not delivered:
            raise RuntimeError(f"not delivered: {said[-400:]!r}")
        return int(delivered[1])

    def consume(
        self,
        topic: str,
        start: Start,
        count: int,
        partition: int | None = None,
        isolation: Isolation | None = None,
    ) -> list[Record]:
        offset = OFFSETS[start] if isinstance(start, str) else f"s@{start}"
        options = ["-C", "-t", topic, "-o", offset, "-c", str(count), "-f", LAYOUT, "-u"]
        options += [] if partition is None else ["-p", str(partition)]
        options += [f"-Xisolation.level={isolation}"] if isolation else []
        return parsed(self.run(options).stdout)

    def create_topic(self, topic: str, partitions: int, config: Mapping[str, str]) -> NoReturn:
        raise NotImplementedError("kcat creates no topics")

    def delete_topic(self, topic: str) -> NoReturn:
        raise NotImplementedError("kcat deletes no topics")

    def describe(self) -> Cluster:
        listed = json.loads(self.run(["-L", "-J"]).stdout)
        return Cluster(
            [broker["name"] for broker in listed["brokers"]],
            {topic["topic"]: len(topic["partitions"]) for topic in listed["topics"]},
        )

    def run(self, options: list[str], data: bytes = b"") -> subprocess.CompletedProcess[bytes]:
        command = [*self.command, *options]
        done = subprocess.run(
            command, input=data, capture_output=True, timeout=PATIENCE, check=False
        )
        if done.returncode:
            raise RuntimeError(f"kcat ended with {done.returncode}: {done.stderr[-400:]!r}")
        return done

    def close(self) -> None: ...


def text(raw: bytes) -> str:
    return raw.decode()


def parsed(output: bytes) -> list[Record]:
    records = []
    while output:
        line, _, output = output.partition(b"\n")
        partition, offset, timestamp, key_size, value_size, headers = line.split(b" ", 5)
        key, output = cut(output, int(key_size))
        value, output = cut(output, int(value_size))
        output = output[1:]
        place = int(timestamp), int(partition), int(offset)
        records.append(Record(key, value, parsed_headers(headers.decode()), *place))
    return records


def cut(output: bytes, size: int) -> tuple[bytes | None, bytes]:
    return (None, output) if size < 0 else (output[:size], output[size:])


def parsed_headers(listed: str) -> Headers:
    pairs = [pair.partition("=") for pair in listed.split(",") if pair]
    return tuple((name, value.encode()) for name, _, value in pairs)
