"""The bill of the functions, line by line, against sums done by hand."""

from dataclasses import replace

import pytest
from unit.cost.given import (
    ALONE,
    INDEX_READS,
    MONTH,
    ROUND_CALLS,
    ROUND_READS,
    ROUND_WRITES,
    ROUNDS,
    SEGMENTS,
    SHIPPED,
    a_load,
    dollars,
    instant,
)

from samsa.cost import functions

RECONNECTS = MONTH / 6_600


def test_a_message_a_second_by_hand():
    bill = functions(ALONE, instant())
    assert dollars(bill, "API Gateway messages") == pytest.approx(2 * 2.628)
    assert dollars(bill, "API Gateway connections") == pytest.approx(43_800 * 0.25e-6)
    requests = MONTH + ROUNDS + 2 * RECONNECTS
    assert dollars(bill, "Lambda requests") == pytest.approx(requests * 0.2e-6)
    # Reserve, bind, confirm, extent; and it is removed again when it is part of a segment.
    writes = 5 * MONTH + 2 * RECONNECTS + ROUND_WRITES * ROUNDS
    assert dollars(bill, "DynamoDB writes") == pytest.approx(writes * 0.625e-6)
    # To append; found by who merges it, and by who removes it.
    reads = (6 + 2 / 14) * MONTH + ROUNDS * (ROUND_READS + INDEX_READS)
    assert dollars(bill, "DynamoDB reads") == pytest.approx(reads * 0.125e-6)
    calls = MONTH + ROUND_CALLS * ROUNDS
    assert dollars(bill, "S3 puts and lists") == pytest.approx(calls * 5e-6)
    # The batch before, by the function; and this one by the janitor, one in ten again.
    assert dollars(bill, "S3 gets") == pytest.approx((1 + 1.1) * MONTH * 0.4e-6)
    week_gb = 604_800 * 1_000 / 2**30
    assert dollars(bill, "S3 storage") == pytest.approx(week_gb * 0.023)
    index_gb = (360 * 350 + SEGMENTS * 4_500) / 2**30
    assert dollars(bill, "DynamoDB storage, recovery") == pytest.approx(index_gb * 0.45)
    # Swept twice, and kept for a week each time.
    assert dollars(bill, "S3 storage, recovery") == pytest.approx(2 * week_gb * 0.023)
    # Lambda logs only what is wrong.
    assert dollars(bill, "CloudWatch logs, alarms") == pytest.approx(0.8)
    assert bill.total == pytest.approx(sum(line.dollars for line in bill.lines))
    assert bill.beyond == []


def test_retention_looks_at_no_more_than_a_page_of_the_index():
    """An hour of a segment a second is 3,600 of them, of which it looks at a thousand."""
    bill = functions(a_load(size=64 * 2**20, retention_hours=1), instant())
    reads = (6 + 2 / 14) * MONTH + ROUNDS * (ROUND_READS + 1_000 * 1.1)
    assert dollars(bill, "DynamoDB reads") == pytest.approx(reads * 0.125e-6)


def test_the_time_of_a_function_is_that_of_its_calls():
    """Ten calls of DynamoDB, a put, a get, and 5 ms of its own: 95 ms of half a gigabyte. And a
    round of the janitor has 23 reads, ten writes and a put, 190 ms, instead of six reads."""
    load = a_load(messages_per_second=0.001, size=1)
    spent = dollars(functions(load, SHIPPED), "Lambda time")
    spent -= dollars(functions(replace(load, messages_per_second=0), SHIPPED), "Lambda time")
    moved = 15e-3 * (100 + 61 + 9) / 2**20
    seconds = MONTH * 0.001 * (0.095 + moved) + ROUNDS * (0.19 - 0.03)
    assert spent == pytest.approx(seconds * 0.5 * 0.0000133334, rel=1e-4)


def test_the_janitor_takes_time_for_what_it_moves():
    """15 ms a megabyte, once through the function and once through the janitor."""
    small, large = (
        dollars(functions(a_load(size=size), SHIPPED), "Lambda time") for size in (1_000, 2_000)
    )
    moved = 15e-3 * 2 * 1_000 / 2**20
    assert large - small == pytest.approx(MONTH * moved * 0.5 * 0.0000133334)


def test_a_batch_grows_while_the_one_before_it_is_on_its_way():
    """95 ms at a hundred messages a second: one that came first, and nine and a half."""
    slow = a_load(messages_per_second=100, idempotent=True)
    puts = dollars(functions(slow, SHIPPED), "S3 puts and lists") - ROUND_CALLS * ROUNDS * 5e-6
    assert puts == pytest.approx(MONTH * 100 / 10.5 * 5e-6)


def test_a_message_is_counted_in_pieces_of_32_kb():
    """24,000 bytes are 32,000 as base64, and 25,000 more than 32 KB."""
    small, large = (functions(a_load(size=size), instant()) for size in (24_000, 25_000))
    assert dollars(small, "API Gateway messages") == pytest.approx(2 * 2.628)
    assert dollars(large, "API Gateway messages") == pytest.approx(3 * 2.628)


def test_what_is_too_large_for_a_message_goes_by_s3():
    small, large = (functions(a_load(size=size), instant()) for size in (98_000, 99_000))
    assert dollars(small, "API Gateway messages") == pytest.approx((4 + 1) * 2.628)
    assert dollars(large, "API Gateway messages") == pytest.approx((2 + 2) * 2.628)
    more = dollars(large, "S3 puts and lists") - dollars(small, "S3 puts and lists")
    assert more == pytest.approx(MONTH * 5e-6)


def test_a_reader_is_woken_reads_and_waits_again():
    """A push; a fetch and its answer; a fetch and its parking. And it beats and commits."""
    load = a_load(consumers=1)
    alone, read = functions(ALONE, instant()), functions(load, instant())

    def more(what: str) -> float:
        return dollars(read, what) - dollars(alone, what)

    messages = 5 + 2 / 3 + 2 / 5
    assert more("API Gateway messages") == pytest.approx(messages * 2.628)
    calls = (2 + 1 / 3 + 1 / 5) * MONTH + 2 * 2 * RECONNECTS
    assert more("Lambda requests") == pytest.approx(calls * 0.2e-6)
    writes = (1 + 1 + 1 / 9 + 1 / 5) * MONTH + 2 * 2 * RECONNECTS
    assert more("DynamoDB writes") == pytest.approx(writes * 0.625e-6)
    assert more("DynamoDB reads") == pytest.approx((3 + 3 + 1 / 3 + 2 / 5) * MONTH * 0.125e-6)
    assert more("S3 gets") == pytest.approx(MONTH * 0.4e-6)


def test_a_busy_reader_reads_all_that_came_while_it_was_busy():
    """Ten appends a second; to read takes 35 ms and to wait again 25: woken 6.25 times, not ten."""
    crowd = a_load(messages_per_second=10, producers=1_000_000)
    alone, read = (functions(replace(crowd, consumers=n), SHIPPED) for n in (0, 1))
    what = "API Gateway messages"
    more = (dollars(read, what) - dollars(alone, what)) / 2.628
    assert more == pytest.approx(5 * 6.25 + 2 / 3 + 2 / 5, rel=1e-4)
    more = dollars(read, "S3 gets") - dollars(alone, "S3 gets")
    assert more == pytest.approx(10 * MONTH * 0.4e-6, rel=1e-4)


def test_a_reader_of_many_partitions_looks_at_all_of_them():
    one, many = (functions(a_load(consumers=1, partitions=n), instant()) for n in (1, 11))
    segments = 8 * 1.1  # each has at least as many; and those that are full are no more in all
    reads = 10 * (1 + 2) * MONTH + ROUNDS * 10 * (ROUND_READS - 4 + segments)
    more = dollars(many, "DynamoDB reads") - dollars(one, "DynamoDB reads")
    assert more == pytest.approx(reads * 0.125e-6)
    more = dollars(many, "DynamoDB writes") - dollars(one, "DynamoDB writes")
    assert more == pytest.approx(10 * (MONTH + ROUND_WRITES * ROUNDS) * 0.625e-6)


def test_an_idle_consumer_costs_its_heartbeats_and_commits_and_hardly_a_fetch():
    load = a_load(messages_per_second=0, consumers=1)
    messages = dollars(functions(load, SHIPPED), "API Gateway messages")
    assert messages == pytest.approx((2 / 3 + 2 / 5 + 2 / 120) * 2.628)


def test_with_nobody_connected_hardly_anything_is_paid():
    nobody = a_load(messages_per_second=0, producers=0, partitions=12)
    bill = functions(nobody, SHIPPED)
    assert dollars(bill, "API Gateway messages") == 0
    assert bill.total < 2


def test_every_group_reads_everything():
    one = a_load(consumers=4, partitions=4)
    gets = [dollars(functions(replace(one, groups=n), instant()), "S3 gets") for n in (1, 2, 4)]
    once = MONTH * 0.4e-6
    ours = 1 + 1.1  # by the function, of the batch before; by the janitor
    assert gets == pytest.approx([(ours + 1) * once, (ours + 2) * once, (ours + 4) * once])


def test_what_leaves_aws_leaves_it_as_base64():
    load = a_load(consumers=1, internet=True)
    out_gb = MONTH * 1_000 / 2**30 * 4 / 3
    bill = functions(load, SHIPPED)
    assert dollars(bill, "transfer to the internet") == pytest.approx(out_gb * 0.09)


def test_keys_make_a_batch_for_each_partition():
    """A thousand messages a second over ten partitions: 1 + 9.5 each, instead of 1 + 95."""
    load = a_load(messages_per_second=1_000, size=100, partitions=10)
    spread = functions(replace(load, keyed=True), SHIPPED)
    stuck = functions(load, SHIPPED)
    of_rounds = 10 * ROUND_CALLS * ROUNDS * 5e-6
    ratio = (dollars(spread, "S3 puts and lists") - of_rounds) / (
        dollars(stuck, "S3 puts and lists") - of_rounds
    )
    assert ratio == pytest.approx(96 / 10.5)


@pytest.mark.parametrize(
    ("load", "word"),
    [
        (a_load(messages_per_second=10_000, partitions=10), "producers"),
        (a_load(messages_per_second=1_000, producers=1_000), "partition"),
        (a_load(messages_per_second=20_000, producers=20_000, partitions=2_000), "messages"),
        (a_load(messages_per_second=20_000, producers=20_000, partitions=2_000), "functions"),
        (a_load(messages_per_second=5_000, producers=50, consumers=1, partitions=50), "consumers"),
    ],
)
def test_what_cannot_be_had_is_said(load, word):
    assert any(word in text for text in functions(load, SHIPPED).beyond)
    assert functions(ALONE, SHIPPED).beyond == []
