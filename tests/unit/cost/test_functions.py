"""The bill of the functions, line by line, against sums done by hand."""

from dataclasses import replace
from math import exp

import pytest
from unit.cost.given import (
    ALONE,
    INDEX_READ,
    INDEX_READS,
    INDEX_UNITS,
    MONTH,
    ROUND_CALLS,
    ROUND_HEADS,
    ROUND_READS,
    ROUND_WRITES,
    ROUNDS,
    SEGMENTS,
    SHIPPED,
    SMALL,
    a_load,
    dollars,
    instant,
)
from unit.cost.given import HEAD_UNITS_OF_FUNCTIONS as HEAD_UNITS

from samsa_broker.cost import Load, Prices, functions
from samsa_broker.cost.load import AppendShare
from samsa_broker.cost.of_functions import environments
from samsa_broker.cost.sizes import Crowd, units

RECONNECTS = MONTH / 6_600
ROUND = ROUND_WRITES + ROUND_HEADS * HEAD_UNITS


def test_a_message_a_second_by_hand():
    bill = functions(ALONE, instant())
    assert dollars(bill, "API Gateway messages") == pytest.approx(2 * 2.628)
    assert dollars(bill, "API Gateway connections") == pytest.approx(43_800 * 0.25e-6)
    requests = MONTH + ROUNDS + 2 * RECONNECTS
    assert dollars(bill, "Lambda requests") == pytest.approx(requests * 0.2e-6)
    # The head; the index; and it is removed again when it is part of a segment.
    writes = (HEAD_UNITS + 2 * INDEX_UNITS) * MONTH + 2 * RECONNECTS + ROUND * ROUNDS
    assert dollars(bill, "DynamoDB writes") == pytest.approx(writes * 0.625e-6)
    # The head, and the topic each time that a second has passed; found by who merges it, by who
    # removes it and by who carries out a pending deletion.
    reads = (1.5 + 3 * INDEX_READ) * MONTH + ROUNDS * (ROUND_READS + INDEX_READS)
    assert dollars(bill, "DynamoDB reads") == pytest.approx(reads * 0.125e-6)
    # It is small, and so no object.
    assert dollars(bill, "S3 puts and lists") == pytest.approx(ROUND_CALLS * ROUNDS * 5e-6)
    assert dollars(bill, "S3 gets") == pytest.approx(3 * ROUNDS * 0.4e-6)
    week_gb = 604_800 * 1_000 / 2**30
    assert dollars(bill, "S3 storage") == pytest.approx(week_gb * 0.023)
    index_gb = (360 * (100 + 240 + SMALL) + SEGMENTS * 4_500) / 2**30
    assert dollars(bill, "DynamoDB storage, recovery") == pytest.approx(index_gb * 0.45)
    # Swept with its segment, and kept for another week.
    assert dollars(bill, "S3 storage, recovery") == pytest.approx(week_gb * 0.023)
    # Lambda logs only what is wrong.
    assert dollars(bill, "CloudWatch logs, alarms") == pytest.approx(0.8)
    assert bill.total == pytest.approx(sum(line.dollars for line in bill.lines))
    assert bill.beyond == []


def test_what_is_larger_than_four_kilobytes_is_an_object():
    """4,027 bytes are 4,096 with their headers: the last that are kept in the ledger."""
    small, large = (functions(a_load(size=size), instant()) for size in (4_027, 4_028))
    more = dollars(large, "S3 puts and lists") - dollars(small, "S3 puts and lists")
    assert more == pytest.approx(MONTH * 5e-6)
    # A janitor gets it, when it is merged.
    more = dollars(large, "S3 gets") - dollars(small, "S3 gets")
    assert more == pytest.approx(MONTH * 0.4e-6)
    # A head of 430 bytes instead of 8,622, entries of 240 instead of 4,336; its name in a pending
    # deletion.
    heads, entries, deletion = 1 - 9, 2 * (1 - 5), 4 * 62 / 1_024
    rounds = ROUNDS * (ROUND_HEADS * heads + 4 * (1 - 5))
    less = MONTH * (heads + entries + deletion) + rounds
    more = dollars(large, "DynamoDB writes") - dollars(small, "DynamoDB writes")
    assert more == pytest.approx(less * 0.625e-6)
    # And it is swept twice: as itself, and with its segment.
    recovery = [dollars(bill, "S3 storage, recovery") for bill in (small, large)]
    assert recovery[1] == pytest.approx(2 * recovery[0], rel=1e-3)


@pytest.mark.parametrize(("producers", "units"), [(1, 3), (11, 3), (12, 4), (16, 4), (1_000, 6)])
def test_an_update_is_billed_by_all_producers_in_the_head(producers: int, units: int):
    """190 bytes, two appends of 60 and 1,069, and 55 for each producer. Of many, only those stay
    that have come within a minute: 58 of a thousand that come every thousand seconds."""
    bill = functions(a_load(producers=producers), instant())
    lonely = functions(a_load(producers=producers, idempotent=False), instant())
    more = dollars(bill, "DynamoDB writes") - dollars(lonely, "DynamoDB writes")
    said = (units - 3) * (MONTH + ROUND_HEADS * ROUNDS)  # without producers it is 3
    if producers > 16:  # and nearly every append is of one that has left
        said += exp(-60 / producers) * MONTH * (1 + units / 16)
    assert more == pytest.approx(said * 0.625e-6)


def test_what_lingered_is_taken_out_of_the_head_by_an_update_of_its_own():
    """A head of 190 bytes, ten producers of 55 and an append of 1,129: two units, twice. Without a
    linger the append before is in it too: three, once."""
    load = a_load(messages_per_second=10, producers=10)
    bills = [functions(replace(load, shim_linger_ms=ms), instant()) for ms in (0, 1e-9)]
    at_first, at_once = (dollars(bill, "DynamoDB writes") for bill in bills)
    more = 10 * MONTH * (2 * 2 - 3) + ROUNDS * ROUND_HEADS * (2 - 3)
    assert at_once - at_first == pytest.approx(more * 0.625e-6)


def test_what_lingered_is_an_object_from_two_and_a_half_kilobytes_on():
    """2,491 bytes are 2,560 with their headers."""
    small, large = (
        dollars(functions(a_load(size=size, shim_linger_ms=1e-9), instant()), "S3 puts and lists")
        for size in (2_491, 2_492)
    )
    assert large - small == pytest.approx(MONTH * 5e-6)


def test_entries_of_calls_that_are_under_way_are_found_in_the_head_by_chance():
    """An entry stays for 10 ms, and a commit comes each second: one in a hundred finds another."""
    appended = [AppendShare(1.0, SMALL, inline=True)]
    said = units(appended, Crowd(1, 0, gap_s=1.0, at_once=True, stays_s=0.01)).head_write
    assert said == pytest.approx(2 + 0.01, abs=1e-4)
    crowded = units(appended, Crowd(1, 0, gap_s=0.001, at_once=True, stays_s=0.01))
    assert crowded.small_put > 0.9  # ten others


def test_retention_looks_at_no_more_than_a_page_of_the_index():
    """An hour of a segment a second is 3,600 of them, of which it looks at a thousand."""
    bill = functions(a_load(size=64 * 2**20, retention_hours=1), instant())
    looks = 1_000 * 4_500 / 4_096
    reads = (1.5 + 3 * 240 / 4_096) * MONTH + ROUNDS * (ROUND_READS + looks)
    assert dollars(bill, "DynamoDB reads") == pytest.approx(reads * 0.125e-6)


def test_the_time_of_a_function_is_that_of_its_calls():
    """A topic, a head and its update, and 5 ms of its own: 20 ms of half a gigabyte. And a round of
    the janitor has 21 reads, 25 writes, a put and three gets, 300 ms, instead of six reads."""
    load = a_load(messages_per_second=0.001, size=1)
    spent = dollars(functions(load, SHIPPED), "Lambda time")
    spent -= dollars(functions(replace(load, messages_per_second=0), SHIPPED), "Lambda time")
    moved = 15e-3 * (100 + 61 + 9) / 2**20
    seconds = MONTH * 0.001 * (0.02 + moved) + ROUNDS * (0.3 - 0.03)
    assert spent == pytest.approx(seconds * 0.5 * 0.0000133334, rel=1e-4)


def test_the_janitor_takes_time_for_what_it_moves():
    """15 ms a megabyte, once through the function and once through the janitor."""
    rare = a_load(messages_per_second=1e-5)
    small, large = (
        dollars(functions(replace(rare, size=size), SHIPPED), "Lambda time")
        for size in (1_000, 2_000)
    )
    moved = 15e-3 * 2 * 1_000 / 2**20
    assert large - small == pytest.approx(MONTH * 1e-5 * moved * 0.5 * 0.0000133334, rel=0.01)


def test_what_comes_while_a_call_is_under_way_goes_along_with_the_next():
    """A call takes 20 ms: at fifty messages a second one comes meanwhile."""
    busy = a_load(messages_per_second=50, size=1)
    calls = dollars(functions(busy, SHIPPED), "Lambda requests") / 0.2e-6 - ROUNDS
    assert (calls - 2 * RECONNECTS) / MONTH == pytest.approx(50 / 2, rel=1e-3)


@pytest.mark.parametrize(("linger_ms", "together"), [(0, 1), (100, 2), (300, 4), (1_000, 5)])
def test_a_shim_that_lingers_sends_up_to_five_produces_in_one_call(linger_ms, together):
    """Of a client that sends ten a second, to one partition."""
    load = a_load(messages_per_second=10, size=100, shim_linger_ms=linger_ms)
    bill = functions(load, instant())
    calls = dollars(bill, "Lambda requests") / 0.2e-6 - ROUNDS - 2 * RECONNECTS
    assert calls / MONTH == pytest.approx(10 / together)
    assert dollars(bill, "API Gateway messages") == pytest.approx(2 * 10 / together * 2.628)


def test_functions_that_take_turns_crowd_the_heads_and_then_put_what_is_small():
    """Each leaves its last two appends there, until it commits again or they are old."""
    few, many = (
        functions(a_load(messages_per_second=rate, producers=10, partitions=10), SHIPPED)
        for rate in (0.01, 100)
    )
    rounds = 10 * ROUND_CALLS * ROUNDS * 5e-6
    assert dollars(few, "S3 puts and lists") == pytest.approx(rounds)
    assert dollars(many, "S3 puts and lists") > rounds + 0.3 * 100 * MONTH * 5e-6


@pytest.mark.parametrize(
    ("busy_s", "count"), [(0, 1), (0.001, 1), (0.1, 2), (0.5, 4), (2.5, 8), (600, 676)]
)
def test_there_are_as_many_functions_as_are_busy_at_a_time_now_and_then(busy_s, count):
    assert environments(busy_s) == pytest.approx(count, abs=1)


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


def more(what: str, load: Load, prices: Prices | None = None) -> float:
    """What a reader of it costs more, in dollars."""
    prices = prices or instant()
    alone, read = (functions(replace(load, consumers=n), prices) for n in (0, 1))
    return dollars(read, what) - dollars(alone, what)


def test_a_reader_is_pushed_the_records_and_goes_on_waiting():
    """A push, which answers its fetch and the next one. It asks every two minutes; it beats and
    commits."""
    messages = 1 + 2 / 120 + 2 / 3 + 2 / 5
    assert more("API Gateway messages", ALONE) == pytest.approx(messages * 2.628)
    calls = (1 / 120 + 1 / 3 + 1 / 5) * MONTH + 2 * 2 * RECONNECTS
    assert more("Lambda requests", ALONE) == pytest.approx(calls * 0.2e-6)
    writes = (HEAD_UNITS / 120 + 1 / 9 + 1 / 5) * MONTH + 2 * 2 * RECONNECTS
    assert more("DynamoDB writes", ALONE) == pytest.approx(writes * 0.625e-6)
    reads = (3 / 120 + 1 / 3 + 2 / 5) * MONTH
    assert more("DynamoDB reads", ALONE) == pytest.approx(reads * 0.125e-6)
    assert more("S3 gets", ALONE) == 0


def test_appends_that_come_at_the_same_time_may_overtake_each_other_and_are_fetched_then():
    """Ten a second, and 10 ms for a push: one in eleven comes meanwhile. It is read, and the reader
    waits anew."""
    crowd = a_load(messages_per_second=10, producers=1_000_000, idempotent=False)
    asked = 10 * 0.1 / 1.1
    messages = 10 + asked * (2 + 2) + 2 / 3 + 2 / 5
    found = more("API Gateway messages", crowd, SHIPPED) / 2.628
    assert found == pytest.approx(messages, rel=1e-4)


def test_a_reader_is_called_to_what_is_too_large_to_be_pushed():
    """More than 90 KB: a push, a fetch and its answer of four pieces; a fetch and its parking."""
    large = a_load(size=92_100)
    messages = 1 + (1 + 4) + 2 + 2 / 3 + 2 / 5
    assert more("API Gateway messages", large) == pytest.approx(messages * 2.628)
    assert more("S3 gets", large) == pytest.approx(MONTH * 0.4e-6)
    # It is removed from the head, and enters itself again.
    writes = (2 + 1 / 9 + 1 / 5) * MONTH + 2 * 2 * RECONNECTS
    assert more("DynamoDB writes", large) == pytest.approx(writes * 0.625e-6)


def test_a_reader_of_many_partitions_looks_at_all_of_them():
    one, many = (functions(a_load(consumers=1, partitions=n), instant()) for n in (1, 11))
    segments = 8 * 4_500 / 4_096  # each has as many; and those that are full are no more in all
    reads = 10 * 2 / 120 * MONTH + ROUNDS * 10 * (ROUND_READS - 5 + segments)
    found = dollars(many, "DynamoDB reads") - dollars(one, "DynamoDB reads")
    assert found == pytest.approx(reads * 0.125e-6)
    found = dollars(many, "DynamoDB writes") - dollars(one, "DynamoDB writes")
    writes = 10 * (HEAD_UNITS / 120 * MONTH + ROUND * ROUNDS)
    assert found == pytest.approx(writes * 0.625e-6)


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
    what = "API Gateway messages"
    sent = [dollars(functions(replace(one, groups=n), instant()), what) for n in (1, 2, 4)]
    assert sent[1] - sent[0] == pytest.approx(2.628)
    assert sent[2] - sent[1] == pytest.approx(2 * 2.628)


def test_what_leaves_aws_leaves_it_as_base64():
    load = a_load(consumers=1, internet=True)
    out_gb = MONTH * 1_000 / 2**30 * 4 / 3
    bill = functions(load, SHIPPED)
    assert dollars(bill, "transfer to the internet") == pytest.approx(out_gb * 0.09)


def test_keys_make_an_append_for_each_partition():
    """Of four messages that come together, to one partition or to three in ten or so."""
    load = a_load(messages_per_second=10, size=100, partitions=10, shim_linger_ms=300)
    stuck, spread = (functions(replace(load, keyed=keyed), instant()) for keyed in (False, True))
    rounds = 10 * ROUND_CALLS * ROUNDS
    assert dollars(spread, "S3 puts and lists") == pytest.approx(rounds * 5e-6)
    index = [dollars(bill, "DynamoDB storage, recovery") for bill in (stuck, spread)]
    assert index[1] > 1.5 * index[0]
    assert dollars(spread, "Lambda requests") == pytest.approx(dollars(stuck, "Lambda requests"))


@pytest.mark.parametrize(
    ("load", "word"),
    [
        (a_load(messages_per_second=200_000, partitions=10), "producers"),
        (a_load(messages_per_second=1_000, producers=1_000), "partition"),
        (a_load(messages_per_second=20_000, producers=20_000, partitions=2_000), "messages"),
        (a_load(messages_per_second=60_000, producers=60_000, partitions=9_000), "functions"),
    ],
)
def test_what_cannot_be_had_is_said(load, word):
    assert any(word in text for text in functions(load, SHIPPED).beyond)
    assert functions(ALONE, SHIPPED).beyond == []
