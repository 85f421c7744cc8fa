"""Configs: described, changed, kept, and honoured."""

import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from server.administer import (
    APPEND,
    BROKER,
    DELETE,
    SET,
    SUBTRACT,
    ask_for_changes,
    change,
    change_configs,
    changes,
    config,
    configs_of,
    own_configs,
    replace_configs,
    set_configs,
    try_to_create,
)
from server.message_sets import message_set
from server.peer import Peer
from server.process import Samsa, a_samsa
from server.talk import (
    NOW,
    append,
    batch,
    create,
    everything,
    new_producer_id,
    produce_row,
    read,
    start_of,
    versions,
    write,
)
from support.waiting import eventually

from samsa.records.batch import validate
from samsa.records.compression import Codec
from samsa.wire.apis import ApiKey
from samsa.wire.errors import ErrorCode
from samsa.wire.messages import create_topics

OK = (ErrorCode.NONE, None)
DEFAULT, OF_TOPIC, OF_BROKER = 5, 1, 4
INT, LONG, LIST = 3, 5, 7


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Samsa, Samsa]]:
    """Two processes on one ledger and one folder; they look after their logs all the time."""
    folder, often = tmp_path_factory.mktemp("configured"), ("--upkeep-interval", "0.2")
    with (
        a_samsa(folder / "one", *often) as one,
        a_samsa(folder / "two", *often, "--data", str(folder / "one" / "data")) as two,
    ):
        yield one, two


def test_a_topic_has_kafkas_configs_with_kafkas_defaults(peer: Peer, topic: str) -> None:
    found = {one.name: one for one in configs_of(peer, topic).configs}
    assert len(found) == 33
    assert found["retention.ms"].value == "604800000"
    assert found["cleanup.policy"].value == "delete"
    assert {one.config_source for one in found.values()} == {DEFAULT}
    assert not any(one.read_only or one.is_sensitive for one in found.values())
    assert [found[name].config_type for name in ("max.message.bytes", "retention.ms")] == [
        INT,
        LONG,
    ]
    assert found["cleanup.policy"].config_type == LIST


def test_a_value_of_the_topics_own_is_told_from_a_default(peer: Peer, new_name: str) -> None:
    create(peer, new_name, retention_bytes="5000")
    own = config(peer, new_name, "retention.bytes", synonyms=True)
    assert (own.value, own.config_source) == ("5000", OF_TOPIC)
    assert [(one.name, one.value, one.source) for one in own.synonyms] == [
        ("retention.bytes", "5000", OF_TOPIC),
        ("log.retention.bytes", "-1", DEFAULT),
    ]
    assert config(peer, new_name, "retention.bytes").synonyms == []


def test_documentation_says_what_has_no_effect(peer: Peer, topic: str) -> None:
    told = {
        name: config(peer, topic, name, documentation=True).documentation
        for name in ("max.message.bytes", "segment.bytes")
    }
    assert "without effect" in told["segment.bytes"]
    assert told["max.message.bytes"]
    assert "without effect" not in told["max.message.bytes"]
    assert config(peer, topic, "segment.bytes").documentation is None


@pytest.mark.parametrize("version", range(5))
def test_configs_are_described_at_every_version(version: int, peer: Peer, new_name: str) -> None:
    create(peer, new_name, retention_ms="77")
    own = config(peer, new_name, "retention.ms", version=version)
    other = config(peer, new_name, "segment.ms", version=version)
    assert (own.value, other.value) == ("77", "604800000")
    if version == 0:
        assert (own.is_default, other.is_default) == (False, True)
    else:
        assert (own.config_source, other.config_source) == (OF_TOPIC, DEFAULT)


def test_only_what_is_asked_for_is_described(peer: Peer, topic: str) -> None:
    found = configs_of(peer, topic, "segment.ms", "nonsense", "retention.ms").configs
    assert sorted(one.name for one in found) == ["retention.ms", "segment.ms"]


def test_the_broker_has_configs_that_cannot_be_changed(peer: Peer, samsa: Samsa) -> None:
    found = {one.name: one for one in configs_of(peer, "0", kind=BROKER).configs}
    assert all(one.read_only for one in found.values())
    host, port = samsa.address
    assert found["advertised.listeners"].value == f"PLAINTEXT://{host}:{port}"
    assert (found["node.id"].value, found["node.id"].config_source) == ("0", OF_BROKER)
    assert (found["num.partitions"].value, found["num.partitions"].config_source) == ("1", DEFAULT)
    told = ask_for_changes(peer, changes(change("num.partitions", "3"), topic="0", kind=BROKER))
    assert told == [
        (ErrorCode.INVALID_REQUEST, "Cannot update these configs dynamically: [num.partitions]")
    ]
    code, _ = replace_configs(peer, "0", kind=BROKER, num_partitions="3")
    assert code is ErrorCode.INVALID_REQUEST


@pytest.mark.parametrize("name", ["--1", "-", "²", "٣", "1" * 5_000, "x" * 32_767])
def test_a_broker_id_that_is_no_number_is_refused(name: str, peer: Peer) -> None:
    told = configs_of(peer, name, kind=BROKER)
    assert told.error_code == ErrorCode.INVALID_REQUEST
    assert told.error_message.startswith("Broker id must be an integer, but it is: ")
    assert versions(peer)


def test_the_broker_tells_how_it_was_started(tmp_path: Path) -> None:
    options = ["--default-partitions", "7", "--no-auto-create-topics", "--group-max-size", "8"]
    options += ["--sasl-reauthenticate-ms", "60000"]
    with a_samsa(tmp_path, *options) as samsa, samsa.peer() as peer:
        found = {one.name: one for one in configs_of(peer, "0", kind=BROKER).configs}
    for name, value in (
        ("num.partitions", "7"),
        ("auto.create.topics.enable", "false"),
        ("group.max.size", "8"),
        ("connections.max.reauth.ms", "60000"),
    ):
        assert (found[name].value, found[name].config_source) == (value, OF_BROKER)


@pytest.mark.parametrize(
    ("kind", "name", "code"),
    [
        (2, "nowhere", ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
        (2, "a/b", ErrorCode.INVALID_TOPIC_EXCEPTION),
        (4, "7", ErrorCode.INVALID_REQUEST),
        (4, "zero", ErrorCode.INVALID_REQUEST),
        (8, "0", ErrorCode.INVALID_REQUEST),
        (99, "x", ErrorCode.INVALID_REQUEST),
    ],
)
def test_what_has_no_configs_is_refused_when_it_is_described_and_when_it_is_changed(
    kind: int, name: str, code: ErrorCode, peer: Peer
) -> None:
    described = configs_of(peer, name, kind=kind)
    assert ErrorCode(described.error_code) is code
    assert described.configs == []
    (told,) = ask_for_changes(peer, changes(change("retention.ms", "1"), topic=name, kind=kind))
    assert told[0] is code
    assert replace_configs(peer, name, kind=kind, retention_ms="1")[0] is code


@pytest.mark.parametrize("version", [0, 1])
def test_single_configs_are_set_and_deleted(version: int, peer: Peer, new_name: str) -> None:
    create(peer, new_name, retention_ms="1000", segment_ms="5000")
    told = change_configs(
        peer,
        new_name,
        change("retention.ms", "2000"),
        change("segment.ms", None, DELETE),
        change("max.message.bytes", "300"),
        version=version,
    )
    assert told == OK
    assert own_configs(peer, new_name) == {"retention.ms": "2000", "max.message.bytes": "300"}


def test_lists_are_appended_to_and_subtracted_from(peer: Peer, topic: str) -> None:
    name = "cleanup.policy"
    for operation, value, expected in (
        (APPEND, "compact", "delete,compact"),
        (APPEND, "delete,compact", "delete,compact"),
        (SUBTRACT, "delete", "compact"),
        (SUBTRACT, "delete", "compact"),
        (SUBTRACT, "compact", ""),
    ):
        assert change_configs(peer, topic, change(name, value, operation)) == OK
        assert config(peer, topic, name).value == expected


@pytest.mark.parametrize(
    ("made", "code"),
    [
        ([change("retention.ms", "x")], ErrorCode.INVALID_CONFIG),
        ([change("retention.ms", "-2")], ErrorCode.INVALID_CONFIG),
        ([change("retention.ms", str(2**63))], ErrorCode.INVALID_CONFIG),
        ([change("max.message.bytes", str(2**31))], ErrorCode.INVALID_CONFIG),
        ([change("nonsense", "1")], ErrorCode.INVALID_CONFIG),
        ([change("retention.ms", "1", APPEND)], ErrorCode.INVALID_CONFIG),
        ([change("nonsense", "1", APPEND)], ErrorCode.INVALID_CONFIG),
        ([change("cleanup.policy", "shred", APPEND)], ErrorCode.INVALID_CONFIG),
        ([change("retention.ms", None)], ErrorCode.INVALID_REQUEST),
        ([change("cleanup.policy", None, SUBTRACT)], ErrorCode.INVALID_REQUEST),
        ([change("retention.ms", "1", 9)], ErrorCode.INVALID_REQUEST),
        ([change("segment.ms", "7"), change("segment.ms", "8")], ErrorCode.INVALID_REQUEST),
        ([change("segment.ms", "7"), change("retention.ms", "x")], ErrorCode.INVALID_CONFIG),
    ],
)
def test_a_bad_change_changes_nothing_of_its_resource(
    made: list, code: ErrorCode, peer: Peer, new_name: str
) -> None:
    create(peer, new_name, retention_bytes="5")
    told, message = change_configs(peer, new_name, *made)
    assert told is code
    assert message
    assert own_configs(peer, new_name) == {"retention.bytes": "5"}


def test_each_resource_is_answered_on_its_own(peer: Peer, new_name: str) -> None:
    names = [f"{new_name}-{n}" for n in range(3)]
    for name in names:
        create(peer, name)
    good, bad = change("retention.ms", "5"), change("retention.ms", "x")
    told = ask_for_changes(
        peer,
        changes(good, topic=names[0]),
        changes(bad, topic=names[1]),
        changes(good, topic="nowhere"),
        changes(good, topic=names[2]),
        changes(good, topic=names[2]),
    )
    assert [code for code, _ in told] == [
        ErrorCode.NONE,
        ErrorCode.INVALID_CONFIG,
        ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
        ErrorCode.INVALID_REQUEST,
        ErrorCode.INVALID_REQUEST,
    ]
    assert [own_configs(peer, name) for name in names] == [{"retention.ms": "5"}, {}, {}]


def test_what_is_only_validated_is_not_changed(peer: Peer, topic: str) -> None:
    assert change_configs(peer, topic, change("retention.ms", "5"), dry_run=True) == OK
    assert replace_configs(peer, topic, dry_run=True, retention_ms="5") == OK
    code, _ = change_configs(peer, topic, change("retention.ms", "x"), dry_run=True)
    assert code is ErrorCode.INVALID_CONFIG
    assert own_configs(peer, topic) == {}


@pytest.mark.parametrize("version", range(3))
def test_the_older_api_replaces_all_that_a_topic_has(
    version: int, peer: Peer, new_name: str
) -> None:
    create(peer, new_name, retention_ms="1000", segment_ms="5000")
    told = replace_configs(peer, new_name, version=version, retention_ms="7", flush_ms="8")
    assert told == OK
    assert own_configs(peer, new_name) == {"retention.ms": "7", "flush.ms": "8"}
    assert replace_configs(peer, new_name, version=version) == OK
    assert own_configs(peer, new_name) == {}
    code, _ = replace_configs(peer, new_name, version=version, retention_ms=None)
    assert code is ErrorCode.INVALID_REQUEST


def test_a_config_without_a_value_is_refused_in_a_new_topic(peer: Peer, new_name: str) -> None:
    bare = create_topics.CONFIG(name="retention.ms", value=None)
    told = try_to_create(peer, new_name, configs=[bare])
    assert ErrorCode(told.error_code) is ErrorCode.INVALID_CONFIG


def is_too_large(peer: Peer, topic: str) -> bool:
    code = append(peer, topic, batch(b"x" * 2_000)).error_code
    return ErrorCode(code) is ErrorCode.MESSAGE_TOO_LARGE


def test_a_smaller_limit_holds_here_at_once_and_elsewhere_within_a_second(
    pair: tuple[Samsa, Samsa], new_name: str
) -> None:
    with pair[0].peer() as here, pair[1].peer() as there:
        create(here, new_name)
        write(there, new_name, b"x" * 2_000)
        set_configs(here, new_name, max_message_bytes="1000")
        assert is_too_large(here, new_name)
        assert eventually(lambda: is_too_large(there, new_name), seconds=2)
        set_configs(there, new_name, max_message_bytes="5000")
        assert not is_too_large(there, new_name)
        assert eventually(lambda: not is_too_large(here, new_name), seconds=2)


def test_retention_that_is_changed_is_honoured(pair: tuple[Samsa, Samsa], new_name: str) -> None:
    with pair[0].peer() as peer:
        create(peer, new_name)
        for _ in range(5):
            write(peer, new_name, b"x")  # an hour old
        time.sleep(0.5)
        assert start_of(peer, new_name) == 0
        set_configs(peer, new_name, retention_ms="1800000")
        assert eventually(lambda: start_of(peer, new_name) == 5)
        set_configs(peer, new_name, retention_ms="-1", retention_bytes="-77")
        write(peer, new_name, b"x", timestamp=1_000)
        time.sleep(0.5)
        assert start_of(peer, new_name) == 5
        set_configs(peer, new_name, retention_bytes="0")
        assert eventually(lambda: start_of(peer, new_name) == 6)


def test_changes_of_two_processes_at_the_same_time_all_hold(
    pair: tuple[Samsa, Samsa], new_name: str
) -> None:
    names = ("retention.ms", "segment.ms", "flush.ms", "segment.bytes", "max.message.bytes",
             "delete.retention.ms", "file.delete.delay.ms", "flush.messages")  # fmt: skip

    def one_by_one(samsa: Samsa, mine: tuple[str, ...]) -> None:
        with samsa.peer() as peer:
            for value in range(2_000_000, 2_000_010):
                for name in mine:
                    assert change_configs(peer, new_name, change(name, str(value), SET)) == OK

    with pair[0].peer() as peer:
        create(peer, new_name)
    with ThreadPoolExecutor(2) as threads:
        for _ in threads.map(one_by_one, pair, (names[:4], names[4:])):
            pass
    with pair[0].peer() as peer:
        assert eventually(
            lambda: own_configs(peer, new_name) == dict.fromkeys(names, "2000009"), seconds=2
        )


def test_configs_survive_the_end_of_the_process(tmp_path: Path) -> None:
    with a_samsa(tmp_path) as samsa:
        with samsa.peer() as peer:
            create(peer, "t")
            set_configs(peer, "t", max_message_bytes="1000")
        samsa.kill()
        samsa.again()
        with samsa.peer() as peer:
            assert own_configs(peer, "t") == {"max.message.bytes": "1000"}
            assert is_too_large(peer, "t")


def test_log_append_time_is_the_brokers_and_the_answer_tells_it(peer: Peer, topic: str) -> None:
    write(peer, topic, b"of its producer")
    set_configs(peer, topic, message_timestamp_type="LogAppendTime")
    before = time.time_ns() // 1_000_000
    told = append(peer, topic, batch(b"one", b"two"))
    after = time.time_ns() // 1_000_000
    assert before <= told.log_append_time_ms <= after
    found = everything(peer, topic)
    stamps = [NOW, told.log_append_time_ms, told.log_append_time_ms]
    assert [record.timestamp for record in found] == stamps
    set_configs(peer, topic, message_timestamp_type="CreateTime")
    assert append(peer, topic, batch(b"three")).log_append_time_ms == -1
    assert everything(peer, topic)[-1].timestamp == NOW


def test_a_batch_with_the_brokers_time_is_sound_and_is_known_again(peer: Peer, topic: str) -> None:
    """Its checksum is the broker's too, and a retry of it is no new batch."""
    set_configs(peer, topic, message_timestamp_type="LogAppendTime")
    producer = {"producer_id": new_producer_id(peer), "producer_epoch": 0, "base_sequence": 0}
    for _ in range(2):
        assert append(peer, topic, batch(b"once", **producer)).base_offset == 0
        time.sleep(0.01)
    got = read(peer, topic, 0)
    assert got.high_watermark == 1
    header = validate(bytes(got.records))
    assert header.log_append_time


def test_an_old_client_writes_with_the_brokers_time(peer: Peer, topic: str) -> None:
    set_configs(peer, topic, message_timestamp_type="LogAppendTime")
    row = produce_row(topic, message_set(1, [(None, b"old")], Codec.GZIP, timestamp=NOW))
    assert peer.ask(ApiKey.PRODUCE, 2, row).responses[0].partition_responses[0].error_code == 0
    (record,) = everything(peer, topic)
    assert abs(record.timestamp - time.time_ns() // 1_000_000) < 60_000
