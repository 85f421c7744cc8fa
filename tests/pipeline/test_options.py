"""Options: every form that Spark's Kafka source takes, and what is said about a bad one."""

from uuid import UUID

import pytest

from pyspark_samsa.errors import BadOption
from pyspark_samsa.options import (
    AssignedPartitions,
    Names,
    Options,
    Pattern,
    read_columns,
    read_options,
)
from pyspark_samsa.positions import (
    EARLIEST,
    IDS,
    LATEST,
    AtOffsets,
    AtTime,
    AtTimes,
    Everywhere,
    TopicPartition,
    from_json,
    ids_from_json,
    to_json,
)

STORES = {"ledger": "sqlite:///l.db", "objects": "file:///o"}


def read(streaming: bool = False, **options: str) -> Options:
    chosen = {"subscribe": "orders"} if "assign" not in options else {}
    return read_options({**STORES, **chosen, **options}, streaming)


def test_a_batch_is_everything_and_a_stream_is_what_comes():
    assert (read().starting, read().ending) == (Everywhere(EARLIEST), Everywhere(LATEST))
    assert read(streaming=True).starting == Everywhere(LATEST)


def test_names_of_options_may_be_written_in_any_case():
    assert read(STARTINGOFFSETS="latest").starting == Everywhere(LATEST)


@pytest.mark.parametrize(
    ("options", "subscription"),
    [
        ({"subscribe": "a, b,a"}, Names(("a", "b"))),
        ({"subscribePattern": "a.*"}, Pattern("a.*")),
        ({"assign": '{"a": [0, 2]}'}, AssignedPartitions({"a": (0, 2)})),
    ],
)
def test_what_is_read_is_said_in_three_ways(options, subscription):
    assert read_options({**STORES, **options}, streaming=False).subscription == subscription


def test_offsets_per_partition_may_be_first_and_last():
    given = read(startingOffsets='{"orders": {"0": 23, "1": -1, "2": -2}}').starting
    assert given == AtOffsets(
        {
            TopicPartition("orders", 0): 23,
            TopicPartition("orders", 1): LATEST,
            TopicPartition("orders", 2): EARLIEST,
        }
    )


def test_a_time_for_all_goes_before_times_before_offsets():
    times = '{"orders": {"0": 5}}'
    offsets = {"startingOffsets": "latest"}
    assert read(**offsets, startingOffsetsByTimestamp=times).starting == AtTimes(
        {TopicPartition("orders", 0): 5}
    )
    assert read(
        **offsets, startingOffsetsByTimestamp=times, startingTimestamp="7"
    ).starting == AtTime(7)
    assert read(endingOffsets="latest", endingTimestamp="7").ending == AtTime(7)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"startingOfsets": "latest"}, "did you mean 'startingOffsets'"),
        ({"colums": "key"}, "did you mean 'columns'"),
        ({"bootstrap": "localhost"}, "there is no option 'bootstrap'"),
        ({"columns": "key,valeu"}, "did you mean 'value'"),
        ({"startingOffsets": "soon"}, "it looks like"),
        ({"startingOffsets": '{"orders": {"0": -3}}'}, "−2 for earliest"),
        ({"startingOffsets": '{"orders": {"0": true}}'}, "it looks like"),
        ({"startingTimestamp": "yesterday"}, "milliseconds since 1970"),
        ({"endingOffsets": "earliest"}, "nothing at all"),
        ({"endingOffsets": '{"orders": {"0": -2}}'}, "nothing at all"),
        ({"assign": '{"a": [0]}', "subscribe": "a"}, "exactly one of"),
        ({"assign": "a"}, "it looks like"),
        ({"assign": "{}"}, "no partition is named"),
        ({"maxOffsetsPerTrigger": "0"}, "not more than 0"),
        ({"minPartitions": "many"}, "no whole number"),
        ({"failOnDataLoss": "perhaps"}, "not one of true, false"),
        ({"startingOffsetsByTimestampStrategy": "guess"}, "not one of error, latest"),
        ({"maxOffsetsPerTrigger": "1", "maxBytesPerTrigger": "1"}, "exclude one another"),
        ({"minOffsetsPerTrigger": "3", "maxOffsetsPerTrigger": "2"}, "is more than"),
        ({"maxTriggerDelay": "15 parsecs"}, "no duration"),
        ({"maxTriggerDelay": "soon"}, "no duration"),
    ],
)
def test_a_bad_option_is_named_with_what_would_be_right(options, said):
    with pytest.raises(BadOption, match=said):
        read(**options)


@pytest.mark.parametrize(
    ("text", "ms"), [(None, 900_000), ("500", 500), ("30s", 30_000), ("2 H", 7_200_000)]
)
def test_a_trigger_delay_is_written_as_for_sparks_kafka_source(text: str | None, ms: int):
    assert read(**{"maxTriggerDelay": text} if text else {}).max_delay_ms == ms


def test_no_topic_and_a_bad_pattern_are_refused():
    for options, said in (
        ({"subscribe": " , "}, "no topic"),
        ({"subscribePattern": "("}, "no pattern"),
    ):
        with pytest.raises(BadOption, match=said):
            read_options({**STORES, **options}, streaming=False)


def test_a_stream_has_no_end():
    with pytest.raises(BadOption, match="a stream has no end"):
        read(streaming=True, endingOffsets="latest")


def test_where_the_log_is_may_stand_in_the_environment(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delenv("SAMSA_LEDGER", raising=False)
    with pytest.raises(BadOption, match="SAMSA_LEDGER"):
        read_options({"subscribe": "a", "objects": "file:///o"}, streaming=False)
    monkeypatch.setenv("SAMSA_LEDGER", "sqlite:///there.db")
    given = read_options({"subscribe": "a", "objects": "file:///o"}, streaming=False)
    assert given.ledger == "sqlite:///there.db"


def test_what_tells_a_kafka_consumer_how_to_consume_may_stay_in_a_job_that_moves():
    read(**{"kafka.bootstrap.servers": "a:9092", "kafkaConsumer.pollTimeoutMs": "1"})


def test_headers_are_a_column_if_asked_for():
    assert "headers" not in read_columns({})
    assert read_columns({"includeHeaders": "true"})[-1] == "headers"
    assert read_columns({"columns": "value, key", "includeHeaders": "true"}) == (
        "value",
        "key",
        "headers",
    )


def test_offsets_in_a_checkpoint_are_always_in_the_same_order():
    offsets = {TopicPartition("b", 10): 1, TopicPartition("b", 9): 2, TopicPartition("a", 0): 3}
    ids = {"b": UUID(int=2), "a": UUID(int=1)}
    text = to_json(offsets, ids)
    assert list(text) == ["a", "b", IDS]
    assert list(text[IDS]) == ["a", "b"]
    assert ids_from_json(text) == ids
    assert list(text["b"]) == ["9", "10"]
    assert from_json(text) == offsets
