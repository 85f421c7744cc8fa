"""What is told of `samsa up` and not of the chain, and why."""

import pytest

KAFKA_TOOLS = (
    "Kafka's own tools start a JVM for each of their 120 steps. What they say goes through the "
    "chain in test_like_kafka.py, byte by byte, and the Java client in all the others."
)


@pytest.mark.skip(reason=KAFKA_TOOLS)
def test_kafkas_tools_through_the_chain() -> None: ...
