"""Kafka's own command-line tools in one Java process, and what they print made comparable."""

import json
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from support.kafka import kafka_java

CLASSES = {
    "acls": "org.apache.kafka.tools.AclCommand",
    "features": "org.apache.kafka.tools.FeatureCommand",
    "topics": "org.apache.kafka.tools.TopicCommand",
    "configs": "kafka.admin.ConfigCommand",
    "offsets": "org.apache.kafka.tools.GetOffsetShell",
    "delete-records": "org.apache.kafka.tools.DeleteRecordsCommand",
    "log-dirs": "org.apache.kafka.tools.LogDirsCommand",
    "elections": "org.apache.kafka.tools.LeaderElectionCommand",
    "reassignments": "org.apache.kafka.tools.reassign.ReassignPartitionsCommand",
    "transactions": "org.apache.kafka.tools.TransactionsCommand",
    "producer": "org.apache.kafka.tools.VerifiableProducer",
    "consumer": "org.apache.kafka.tools.VerifiableConsumer",
    "compaction": "org.apache.kafka.tools.LogCompactionTester",
    "groups": "org.apache.kafka.tools.consumer.group.ConsumerGroupCommand",
}
NORMAL = (
    (r"127\.0\.0\.1:\d+", "BOOTSTRAP"),
    (r"TopicId: \S+", "TopicId: ID"),
    (r"Epoch: \d+", "Epoch: N"),
    (r'"timestamp":\d+', '"timestamp":TIME'),
    (r'"avg_throughput":[^,}]+', '"avg_throughput":N'),
    (r'"logDir":"[^"]*"', '"logDir":"DIR"'),
    (r'"log_dirs":\["(?!any")[^"]*"\]', '"log_dirs":["DIR"]'),
    # A producer: its id, its epoch, no coordinator, its sequence, and its last time.
    (r"\n\d+ *\t(\d+ *\t-1 *\t\d+ *\t)\d{13}", r"\nID\t\1TIME"),
    # A stack is the client's; its first line is what the broker said.
    (r"\n\tat [^\n]*", ""),
    (r"\n\t\.\.\. \d+ more", ""),
)


@dataclass(frozen=True)
class Said:
    status: int
    out: list[str]
    err: list[str]


class KafkaTools:
    def __init__(self, log: IO[str]) -> None:
        pipe = subprocess.PIPE
        hooks = "--add-opens=java.base/java.lang=ALL-UNNAMED"
        command = [*kafka_java("256M", hooks, "-Dlog.level=off"), "Tools"]
        self.process = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=log, text=True)
        self.log = log

    def run(self, tool: str, bootstrap: str, *arguments: str) -> Said:
        asked = {
            "tool": CLASSES[tool],
            "arguments": ["--bootstrap-server", bootstrap, *arguments],
        }
        self.process.stdin.write(json.dumps(asked) + "\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError(f"the tools ended: {Path(self.log.name).read_text()[-2000:]}")
        said = json.loads(line)["ok"]
        return Said(said["status"], lines(said["out"]), lines(said["err"]))

    def close(self) -> None:
        self.process.stdin.close()
        self.process.wait(timeout=10)
        self.process.stdout.close()
        self.log.close()


def lines(text: str) -> list[str]:
    if '"records_consumed"' in text:
        return consumed(text)
    for pattern, instead in NORMAL:
        text = re.sub(pattern, instead, text)
    found = [in_order(line) for line in text.splitlines()]
    # Which partition answers a producer first depends on the moment.
    return sorted(found) if '"producer_send' in text else found


def consumed(text: str) -> list[str]:
    """What a consumer does, however its fetches cut the records up: in what order it did each for
    the first time, how many records it got and where it committed last."""
    events = [json.loads(line) for line in text.splitlines()]
    names = list(dict.fromkeys(event["name"] for event in events))
    count = sum(event["count"] for event in events if event["name"] == "records_consumed")
    places = {}
    for event in events:
        if event["name"] == "offsets_committed":
            assert event["success"], event
            places |= {(o["topic"], o["partition"]): o["offset"] for o in event["offsets"]}
    return [*names, f"{count} records", *(f"{place}: {at}" for place, at in sorted(places.items()))]


def in_order(line: str) -> str:
    """What Kafka lists as its hash tables have it."""
    head, configs, listed = line.partition("Configs: ")
    if configs:
        # A comma separates configs, and also the values of a list.
        return head + configs + ",".join(sorted(re.split(r",(?=[a-z.]+=)", listed)))
    if line.startswith('{"brokers"'):
        found = json.loads(line)
        for broker in found["brokers"]:
            for directory in broker["logDirs"]:
                directory["partitions"].sort(key=lambda one: one["partition"])
        return json.dumps(found, sort_keys=True)
    return line
