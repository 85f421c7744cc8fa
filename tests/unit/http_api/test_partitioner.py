"""Keys go where every other client sends them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from kafka.partitioner.default import murmur2 as kafka_pythons

from samsa.http_api.partitioner import murmur2, partition_for


@pytest.mark.parametrize(
    ("key", "hashed"),
    [
        # From Kafka's own UtilsTest.
        (b"21", -973932308),
        (b"foobar", -790332482),
        (b"a-little-bit-long-string", -985981536),
        (b"a-little-bit-longer-string", -1486304829),
        (b"lkjh234lh9fiuh90y23oiuhsafujhadof229phr9h19h89h8", -58897971),
        (b"abc", 479470107),
    ],
)
def test_murmur2_is_kafkas(key: bytes, hashed: int):
    assert murmur2(key) == hashed % 2**32


@given(st.binary(max_size=64))
def test_murmur2_is_kafka_pythons(key: bytes):
    assert murmur2(key) == kafka_pythons(key) % 2**32


@given(st.binary(max_size=64), st.integers(1, 100))
def test_a_key_has_one_partition_whatever_the_request(key: bytes, partitions: int):
    chosen = partition_for(key, partitions, "one")
    assert chosen == partition_for(key, partitions, "another")
    assert 0 <= chosen < partitions
