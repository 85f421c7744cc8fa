"""The rows of the table, in order: what each one is, how runs are summed up, what it must reach."""

import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass

SIZES = {100: "100 B", 1024: "1 KB", 10240: "10 KB"}
PARTITIONS = {1: "1 partition", 6: "6 partitions"}
SPARK_SIZES = {size: SIZES[size] for size in (1024, 100)}
GROUP_SIZES = {1: "1 member", 10: "10 members", 100: "100 members"}
CONSUMER_SIZES = {size: GROUP_SIZES[size] for size in (10, 100)}
CROWDS = {(10, 100): "10 groups of 100", (1, 1_000): "1 group of 1,000"}
FAR_SIZES = {1_024: ("1 KB", 8.0), 102_400: ("100 KB", 32.0)}
"""With the most that an append may wait for stores (ms)."""
FAR_KINDS = ("plain", "idempotent")
FAR_METERED = {200: "200 B", 1_024: "1 KB", 16_384: "16 KB"}
FAR_PAUSE_MS = 60
CLIENTS = {"rdkafka": "librdkafka, 1 MB batches", "java": "Java", "latency": "single messages"}


@dataclass(frozen=True, slots=True)
class Row:
    key: str
    what: str
    unit: str
    more_is_better: bool = False
    target: float | None = None
    """Of the ratio."""
    most: float | None = None
    """Of Samsa's own figure, where that is what counts."""
    least: float | None = None

    @property
    def sum_up(self) -> Callable[[Sequence[float]], float]:
        """Noise only ever slows a transfer down; a latency or a cost has a middle."""
        return max if self.more_is_better else statistics.median

    def met(self, ratio: float) -> bool:
        bound = 1.0 if self.target is None else self.target
        return ratio >= bound if self.more_is_better else ratio <= bound


def _speed(key: str, what: str, target: float) -> Row:
    return Row(key, what, "MB/s", more_is_better=True, target=target)


def _rdkafka() -> list[Row]:
    rows = []
    for count, partitions in PARTITIONS.items():
        rows.append(_speed(f"produce.{count}", f"librdkafka produce, 1 KB, {partitions}", 1.0))
        rows.append(_speed(f"consume.{count}", f"librdkafka consume, 1 KB, {partitions}", 0.9))
    return rows


def _latency() -> list[Row]:
    return [
        Row("ack.p50", "acknowledged single message, p50", "ms", target=1.0),
        Row("ack.p99", "acknowledged single message, p99", "ms"),
        Row("e2e.p50", "librdkafka end to end, p50", "ms"),
        Row("e2e.p99", "librdkafka end to end, p99", "ms"),
        Row("java.e2e.mean", "Java EndToEndLatency, mean", "ms"),
        Row("java.e2e.p99", "Java EndToEndLatency, p99 (whole ms)", "ms"),
    ]


def _java() -> list[Row]:
    rows = []
    for size, name in SIZES.items():
        rows.append(_speed(f"java.produce.{size}", f"Java ProducerPerformance, {name}", 1.0))
        rows.append(_speed(f"java.consume.{size}", f"Java ConsumerPerformance, {name}", 0.9))
        rows.append(_speed(f"java.assign.{size}", f"Java consumer with assign(), {name}", 0.9))
    return rows


def _transactions() -> list[Row]:
    each, tenth = "a commit every 1,000 messages", "one transaction in ten aborted"
    return [
        _speed("txn.produce", f"librdkafka produce, 1 KB, {each}", 1.0),
        _speed("txn.consume", f"librdkafka read_committed, {tenth}", 0.9),
        _speed("txn.produce.timed", "librdkafka produce, 1 KB, a commit every 100 ms", 1.0),
        _speed("txn.consume.timed", "librdkafka read_committed, none aborted", 0.9),
        Row("txn.commit.1", "commit of a transaction in 1 partition, p50", "ms", target=1.0),
        Row("txn.commit.10", "commit of a transaction in 10 partitions, p50", "ms", target=1.0),
        _speed("txn.java", "Java ProducerPerformance, 1 KB, a commit every 100 ms", 1.0),
        _speed("txn.java.each", f"Java producer, 1 KB, {each}", 1.0),
        Row("txn.streams", "Streams word count, exactly_once_v2, all counted", "s", target=1.0),
    ]


def _security() -> list[Row]:
    rows = []
    for count, partitions in PARTITIONS.items():
        of = f"with TLS, SCRAM and ACLs, 1 KB, {partitions}"
        rows += [
            _speed(f"secure.produce.{count}", f"librdkafka produce {of}", 1.0),
            _speed(f"secure.consume.{count}", f"librdkafka consume {of}", 1.0),
        ]
    return [
        *rows,
        _speed("secure.java.produce", "Java ProducerPerformance with the same, 1 KB", 1.0),
        _speed("secure.java.consume", "Java ConsumerPerformance with the same, 1 KB", 1.0),
        Row("secure.cpu.in", "broker CPU per GB in, with the same, 1 partition", "s"),
        Row("secure.cpu.out", "broker CPU per GB out, with the same, 1 partition", "s"),
        Row("secure.login.p50", "SCRAM-SHA-512 login on a TLS connection, p50", "ms", target=1.0),
        Row("secure.login.p99", "SCRAM-SHA-512 login on a TLS connection, p99", "ms"),
        Row("secure.all.p50", "TCP, TLS handshake and login, p50", "ms", target=1.0),
        Row("secure.all.p99", "TCP, TLS handshake and login, p99", "ms"),
        Row("secure.acls", "broker CPU that ACLs add to a produce of 1 KB", "%", most=2.0),
    ]


def _groups() -> list[Row]:
    rows = []
    for size, members in GROUP_SIZES.items():
        of = f"group of {members}"
        rows += [
            Row(f"group.delayed.{size}", f"{of}, stable, 3 s initial delay", "ms"),
            Row(f"group.at_once.{size}", f"{of}, stable, no initial delay", "ms", target=1.0),
            Row(f"group.join.{size}", f"{of}, one more joins", "ms"),
            Row(f"group.leave.{size}", f"{of} and one, one leaves", "ms", target=1.0),
        ]
    for size, members in CONSUMER_SIZES.items():
        of = f"consumer protocol, {members}"
        rows += [
            Row(f"consumer.gathered.{size}", f"{of}, stable", "ms"),
            Row(f"consumer.join.{size}", f"{of}, one more joins", "ms"),
            Row(f"consumer.leave.{size}", f"{of} and one, one leaves", "ms"),
        ]
    return [
        *rows,
        Row("commit.p50", "OffsetCommit, p50", "ms", target=2.0),
        Row("commit.p99", "OffsetCommit, p99", "ms"),
        *(
            Row(f"idle.{count}.{size}", f"broker CPU, idle members, {name}", "%", most=5.0)
            for (count, size), name in CROWDS.items()
        ),
    ]


def _spark() -> list[Row]:
    rows = []
    for size, name in SPARK_SIZES.items():
        for count, partitions in PARTITIONS.items():
            of = f"{name}, {partitions}"
            rows += [
                _speed(f"spark.scan.{size}.{count}", f"Spark, scan, {of}", 1.5),
                _speed(f"spark.keys.{size}.{count}", f"Spark, count by key, {of}", 1.5),
                Row(f"spark.tasks.{size}.{count}", f"Spark, tasks of a scan, {of}", "", True),
            ]
    return [*rows, Row("spark.stream", "Spark, micro-batch of one record", "ms", target=1.2)]


def _cost() -> list[Row]:
    rows = []
    for count, partitions in PARTITIONS.items():
        rows.append(Row(f"cpu.in.{count}", f"broker CPU per GB in, {partitions}", "s"))
        rows.append(Row(f"cpu.out.{count}", f"broker CPU per GB out, {partitions}", "s"))
    return [
        *rows,
        Row("rss", "resident memory after the librdkafka runs", "MB", target=0.15),
        Row("rss.peak", "resident memory, peak of the librdkafka runs", "MB"),
        Row("start", "process start to first acknowledged produce", "s", target=0.3),
        Row("start.empty", "the same, empty: --ephemeral, and a new log", "s", target=0.3),
    ]


def _store_calls() -> list[Row]:
    return [
        Row(f"calls.{call}.{section}", f"store calls per {call}, {client}", "")
        for section, client in CLIENTS.items()
        for call in ("produce", "fetch")
    ]


def _life() -> list[Row]:
    return [
        Row("life.copy", "merge of appends of 1 MB by copying, a core", "MB/s", True, least=200.0),
        Row("life.join", "merge of appends of 1 KB in one pack, a core", "MB/s", True),
        Row("life.compact", "compaction, records of 1 KB, a core", "MB/s", True, least=50.0),
        Row("life.compact.small", "compaction, records of 100 B, a core", "MB/s", True, least=50.0),
        Row("life.unmerged", "appends of 1 KB read back, store 20 ms away", "MB/s", True),
        Row("life.merged", "the same once they are merged", "MB/s", True),
        Row("life.faster", "merged for unmerged", "×", True, least=20.0),
        Row("life.p99", "acknowledged single message beside a load, p99", "ms"),
        Row("life.p99.janitor", "the same while a janitor merges that, p99", "ms"),
        Row("life.slower", "with the janitor for without", "×", most=2.0),
        Row("life.p99.keyed", "the same beside a load with keys, p99", "ms"),
        Row("life.p99.compactor", "the same while a janitor compacts that, p99", "ms"),
        Row("life.slower.compactor", "with that janitor for without", "×", most=2.0),
    ]


def _bundle() -> list[Row]:
    return [
        Row("bundle.produce", "librdkafka produce, 1 KB, 1 partition", "msg/s", True, 5.0),
        Row("bundle.fetch", "librdkafka consume, 1 KB, 1 partition", "MB/s", True, 5.0),
        Row("bundle.ack", "acknowledged single message, p50", "ms"),
        Row("bundle.direct", "the same without the shim, p50", "ms"),
        Row("bundle.added", "added by the shim and its envelope, p50", "ms", most=2.0),
        Row("bundle.one", "one producer, far stores", "msg/s", True),
        Row("bundle.many", "50 producers on one partition, far stores", "msg/s", True),
        Row("bundle.overlap", "50 producers for one, far stores", "×", True, least=10.0),
        Row("bundle.one.sqlite", "one producer, far stores, ledger in SQLite", "msg/s", True),
        Row("bundle.many.sqlite", "50 producers, far stores, ledger in SQLite", "msg/s", True),
        Row(
            "bundle.overlap.sqlite",
            "50 producers for one, far stores, ledger in SQLite",
            "×",
            True,
            least=10.0,
        ),
        Row("bundle.cold", "cold start of the gateway function", "ms", most=250.0),
        Row("bundle.layer", "the layer, unpacked", "MB", most=50.0),
    ]


def _far() -> list[Row]:
    rows = []
    for size, (name, most) in FAR_SIZES.items():
        for kind in FAR_KINDS:
            of = f"samsa up, {name}, {kind}"
            rows += _far_produce(f"{size}.{kind}", of, most=most)
    rows += _far_produce("bundle", "shim and gateway, 1 KB", target=1 / 3)
    rows += _far_produce("e2e", "shim and gateway, 1 KB, end to end", target=1 / 4)
    for where, of, least in (("bundle", "shim and gateway", 25.0), ("up", "samsa up", None)):
        rows += [
            Row(f"far.one.{where}", f"{of}, one producer", "msg/s", True),
            Row(f"far.many.{where}", f"{of}, 50 producers on one partition", "msg/s", True),
            Row(f"far.overlap.{where}", f"{of}, 50 producers for one", "×", True, least=least),
            Row(f"far.calls.many.{where}", f"{of}, 50 producers, calls per append", ""),
            Row(f"far.units.many.{where}", f"{of}, 50 producers, write units per append", ""),
        ]
    rows.append(Row("far.hidden", "a writer is killed: others' records hidden", "ms", most=0.0))
    for size, name in FAR_METERED.items():
        rows += [
            Row(f"far.units.{size}", f"write units per append, {name}", "", most=2.0),
            Row(f"far.units.{size}.apart", f"the same, {FAR_PAUSE_MS} ms apart", "", most=2.0),
        ]
    return rows


def _far_produce(
    key: str, of: str, target: float | None = None, most: float | None = None
) -> list[Row]:
    return [
        Row(f"far.ack.{key}", f"{of}, p50", "ms", target=target),
        Row(f"far.waits.{key}", f"{of}, of that waits for stores", "ms", most=most),
        Row(f"far.calls.{key}", f"{of}, calls for each", ""),
    ]


def _tests() -> list[Row]:
    return [
        Row("tests.start", "process start to first acknowledged produce, empty", "s"),
        Row(
            "tests.thread", "the fixture's import to its first answer, in a thread", "ms", most=400
        ),
        Row("tests.cpu", "CPU time of that", "ms"),
        Row(
            "tests.process", "import to first answer, in a process beside the tests", "ms", most=400
        ),
        Row("tests.cluster", "a fresh cluster and its end, in the same process", "ms", most=5),
    ]


KAFKA_WORKER = "kafka-worker"
SEED = {"bundle.produce": 8_000.0, "bundle.fetch": 2.6, "bundle.ack": 1.0}
"""The best of what kafka-worker did under miniflare: 1.1–8 k msg/s, up to 2.6 MB/s, 1–6 ms."""
BUNDLE: Sequence[Row] = _bundle()
BEFORE = "before"
FAR: Sequence[Row] = _far()
TESTS: Sequence[Row] = _tests()
ROWS: Sequence[Row] = (
    *_rdkafka(),
    *_latency(),
    *_java(),
    *_transactions(),
    *_security(),
    *_groups(),
    *_life(),
    *_spark(),
    *_cost(),
    *_store_calls(),
)
