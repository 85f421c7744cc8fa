"""Named writes: `txnAppId` and `txnVersion` are once for each topic. No Spark is needed."""

from typing import Any

import pyarrow as pa
import pytest
from pipeline.given import Given
from pipeline.sinking import content
from pyspark.sql.types import StringType, StructField, StructType

from pyspark_samsa import DefaultSource
from pyspark_samsa.errors import BadRows, UnknownTopic
from pyspark_samsa.sink.writer import SamsaWriter


def writer(log: Given, columns: list[str], **options: Any) -> SamsaWriter:
    named = {"txnAppId": "an/app", "txnVersion": "0", **options}
    schema = StructType([StructField(name, StringType()) for name in columns])
    return DefaultSource({**log.options, **named}).writer(schema, False)


def write(log: Given, *rows: dict[str, str], **options: Any) -> None:
    """As Spark does it, with one task."""
    writing = writer(log, list(rows[0]), **options)
    writing.commit([writing.write(iter([pa.RecordBatch.from_pylist(list(rows))]))])


def values(log: Given, topic: str) -> list[bytes]:
    return [value for _, value in content(log, topic)]


def test_the_same_name_and_version_is_a_write_of_its_own_for_each_topic(local_log: Given):
    first, second = local_log.topic(), local_log.topic()
    for topic in (first, second, first, second):
        write(local_log, {"value": f"for {topic}"}, topic=topic)
    assert [values(local_log, topic) for topic in (first, second)] == [
        [b"for %s" % topic.encode()] for topic in (first, second)
    ]


def test_a_topic_that_was_made_again_is_another_target(local_log: Given):
    topic = local_log.topic()
    write(local_log, {"value": "old"}, topic=topic)
    local_log.delete(topic)
    local_log.topic(1, topic)
    write(local_log, {"value": "new"}, topic=topic)
    write(local_log, {"value": "again"}, topic=topic)
    assert values(local_log, topic) == [b"new"]


def test_a_topic_that_is_made_again_in_the_middle_of_a_write_is_not_written_by_it(
    local_log: Given,
):
    """Otherwise the same write would come into it once more, when it is tried again."""
    topic = local_log.topic()
    writing = writer(local_log, ["value"], topic=topic)
    message = writing.write(iter([pa.RecordBatch.from_pylist([{"value": "v"}])]))
    local_log.delete(topic)
    local_log.topic(1, topic)
    with pytest.raises(UnknownTopic, match="deleted meanwhile, and made again"):
        writing.commit([message])
    assert values(local_log, topic) == []


def test_rows_that_name_their_topics_are_one_write_beside_those_to_each_topic(local_log: Given):
    first, second = local_log.topic(), local_log.topic()
    both = [{"value": "by column", "topic": name} for name in (first, second)]
    write(local_log, *both)
    write(local_log, *both)
    write(local_log, {"value": "by option"}, topic=first)
    assert values(local_log, first) == [b"by column", b"by option"]
    assert values(local_log, second) == [b"by column"]


@pytest.mark.parametrize("version", ["1", "0"], ids=["the same version", "an earlier one"])
def test_rows_for_a_topic_that_the_write_of_this_name_did_not_reach_do_not_vanish(
    local_log: Given, version: str
):
    app = f"app of {version}"
    first, second = local_log.topic(), local_log.topic()
    write(local_log, {"value": "v", "topic": first}, txnAppId=app, txnVersion="1")
    with pytest.raises(BadRows, match=f"not to this topic {second!r}"):
        write(local_log, {"value": "v", "topic": second}, txnAppId=app, txnVersion=version)
    local_log.delete(first)
    local_log.topic(1, first)
    with pytest.raises(BadRows, match="was written before"):
        write(local_log, {"value": "v", "topic": first}, txnAppId=app, txnVersion=version)
