"""The bills of processes, of MSK Serverless and of Kafka on EC2, by hand."""

from dataclasses import replace
from math import exp

import pytest
from unit.cost.given import (
    ALONE,
    HEAD_UNITS,
    INDEX_READ,
    INDEX_READS,
    INDEX_UNITS,
    MONTH,
    ROUND_CALLS,
    ROUND_HEADS,
    ROUND_READS,
    ROUND_WRITES,
    ROUNDS,
    SHIPPED,
    a_load,
    dollars,
    instant,
)

from samsa_broker.cost import Load, Prices, kafka, msk, of_processes, processes

A_MEGABYTE = a_load(size=2**20, consumers=1, partitions=10, retention_hours=1)
WRITTEN_GB = MONTH / 1024
KEPT_GB = 3600 / 1024


def test_msk_serverless_by_hand():
    bill = msk(A_MEGABYTE, SHIPPED)
    assert dollars(bill, "cluster") == pytest.approx(547.50)
    assert dollars(bill, "partitions") == pytest.approx(10.95)
    assert dollars(bill, "data in") == pytest.approx(256.640625)
    assert dollars(bill, "data out") == pytest.approx(128.3203125)
    assert dollars(bill, "storage") == pytest.approx(0.3515625)
    assert bill.total == pytest.approx(943.7625)


@pytest.mark.parametrize(
    ("load", "word"),
    [
        (a_load(messages_per_second=201, size=2**20), "200 MB/s"),
        (a_load(messages_per_second=101, size=2**20, consumers=4, groups=4), "400 MB/s"),
        (a_load(partitions=2_401), "2,400 partitions"),
    ],
)
def test_msk_serverless_ends_somewhere(load, word):
    assert any(word in text for text in msk(load, SHIPPED).beyond)
    assert msk(A_MEGABYTE, SHIPPED).beyond == []


def test_kafka_by_hand():
    bill = kafka(A_MEGABYTE, SHIPPED)
    assert dollars(bill, "EC2") == pytest.approx(3 * 730 * 0.0816)
    assert dollars(bill, "EBS") == pytest.approx(KEPT_GB * 3 / 0.7 * 0.08)
    assert dollars(bill, "copies between zones") == pytest.approx(2 * WRITTEN_GB * 0.02)
    assert dollars(bill, "traffic between zones") == pytest.approx(2 * WRITTEN_GB * 2 / 3 * 0.02)


@pytest.mark.parametrize(
    ("megabytes", "groups", "brokers"),
    [(13, 1, 3), (39, 1, 3), (40, 1, 4), (39, 5, 5), (390, 1, 30)],
)
def test_kafka_has_brokers_for_its_disks_and_its_network(megabytes, groups, brokers):
    load = a_load(messages_per_second=megabytes, size=2**20, consumers=groups, groups=groups)
    assert dollars(kafka(load, SHIPPED), "EC2") == pytest.approx(brokers * 730 * 0.0816)


def test_processes_by_hand():
    bill = processes(a_load(consumers=1), instant())
    written_gb = MONTH * 1_000 / 2**30
    assert dollars(bill, "EC2") == pytest.approx(2 * 730 * 0.0816)
    assert dollars(bill, "traffic between zones") == pytest.approx(2 * written_gb * 2 / 3 * 0.02)
    rounds = 2 * ROUNDS
    assert dollars(bill, "S3 puts and lists") == pytest.approx(ROUND_CALLS * rounds * 5e-6)
    # An append and its end; a watch; a beat, a commit; and two processes that announce themselves.
    writes = HEAD_UNITS + 2 * INDEX_UNITS + HEAD_UNITS / 30 + 1 / 9 + 1 / 5 + 2 / 3
    writes = writes * MONTH + (ROUND_WRITES + ROUND_HEADS * HEAD_UNITS) * rounds
    assert dollars(bill, "DynamoDB writes") == pytest.approx(writes * 0.625e-6)
    # A fetch waits for half a second at most; it looks at first, and again after that. Then what is
    # merged, a beat, a commit, the topic and the announcements of two processes.
    looks = 2 / (1 - exp(-0.5))
    reads = looks + 3 * INDEX_READ + 1 / 3 + 1 / 5 + 2 + 2 / 3
    reads = reads * MONTH + rounds * (ROUND_READS + INDEX_READS)
    assert dollars(bill, "DynamoDB reads") == pytest.approx(reads * 0.125e-6)
    # It is small, and so no object; each round gets segments that are merged again.
    assert dollars(bill, "S3 gets") == pytest.approx(3 * rounds * 0.4e-6)


def test_behind_a_load_balancer_each_process_commits_and_watches_for_itself():
    load = a_load(consumers=1, size=10_000)
    plain, behind = (
        processes(replace(load, load_balancer=is_so), instant()) for is_so in (False, True)
    )
    gb = 2 * MONTH * 10_000 / 2**30
    assert dollars(behind, "load balancer") == pytest.approx(730 * 0.0225 + gb * 0.006)
    assert "load balancer" not in {line.what for line in plain.lines}
    # One in two appends is made by the process that its reader is not at.
    more = dollars(behind, "S3 gets") - dollars(plain, "S3 gets")
    assert more == pytest.approx(MONTH / 2 * 0.4e-6)
    assert dollars(behind, "DynamoDB writes") > dollars(plain, "DynamoDB writes")


def commits(load: Load, prices: Prices = SHIPPED) -> float:
    """A second: what the index has more, six minutes long, than the segments."""
    made, _ = of_processes.commits(load, 2, prices)
    return made.commits


def test_however_many_write_a_partition_has_no_more_commits_than_there_is_time_for():
    """An update of 5 ms; or, of what is too large for the head, one and a half puts of 25 too."""
    crowd = a_load(messages_per_second=1e5, size=1, producers=100, batch_bytes=1)
    assert commits(crowd) == pytest.approx(1 / (0.005 + 1.5 * 0.025), rel=1e-2)
    few = a_load(messages_per_second=200, size=1, producers=100, batch_bytes=1)
    assert commits(few) == pytest.approx(200 / (1 + 200 * 0.005), rel=1e-6)


def test_what_is_too_large_for_heads_shares_puts_over_all_partitions():
    """A put of 25 ms for all that come meanwhile: forty a second at most, of each process."""
    crowd = a_load(messages_per_second=1e5, size=1_000, producers=1_000, partitions=1_000)
    puts = dollars(processes(crowd, SHIPPED), "S3 puts and lists") / 5e-6 / MONTH
    rounds = 1_000 * ROUND_CALLS * 2 * ROUNDS / MONTH
    assert puts - rounds == pytest.approx(2 * 40, rel=0.1)


WINDOWED = a_load(messages_per_second=80, producers=80, partitions=80, window_ms=250)


def test_in_a_window_all_that_comes_to_a_process_is_one_put():
    """Forty a second to each of two: a first one, and ten that come within a quarter second."""
    windows = 2 * 40 / 11
    puts = dollars(processes(WINDOWED, SHIPPED), "S3 puts and lists") / 5e-6
    puts = (puts - 80 * ROUND_CALLS * 2 * ROUNDS) / MONTH
    assert puts == pytest.approx(windows, rel=0.01)
    # Of those that are swept, each is got once; and each append, when it is merged.
    gets = dollars(processes(WINDOWED, SHIPPED), "S3 gets") / 0.4e-6
    gets = (gets - 80 * 3 * 2 * ROUNDS) / MONTH
    assert gets == pytest.approx(windows + commits(WINDOWED), rel=0.01)


def test_in_a_window_each_partition_that_got_something_has_one_commit():
    """Eleven messages of ten producers come to nine of forty partitions; or all of them to one."""
    assert commits(WINDOWED) == pytest.approx(2 * 40 / 11 * 8.7, rel=0.02)
    assert commits(replace(WINDOWED, partitions=2)) == pytest.approx(2 * 40 / 11, rel=1e-3)


def test_a_window_that_has_little_in_all_is_kept_in_the_heads():
    """Three messages of 1,000 bytes are; four are an object."""
    load = a_load(producers=2, partitions=2, window_ms=250)
    few, many = (processes(replace(load, messages_per_second=n), SHIPPED) for n in (0.01, 1_000))
    rounds = 2 * ROUND_CALLS * 2 * ROUNDS * 5e-6
    assert dollars(few, "S3 puts and lists") == pytest.approx(rounds, rel=1e-3)
    assert dollars(many, "S3 puts and lists") > 10 * rounds


def test_a_producer_without_keys_stays_with_a_partition_until_it_has_sent_it_a_full_batch():
    """Of eight that come from one producer within a window: one partition, or five or so of ten."""
    load = a_load(
        messages_per_second=28, size=1_000, partitions=10, window_ms=250, batch_bytes=1_000_000
    )
    alone = replace(load, partitions=1)
    stuck, spread = (commits(replace(load, keyed=keyed)) for keyed in (False, True))
    assert stuck < 2.2 * commits(alone)
    assert spread > 1.8 * stuck


def test_without_a_window_nothing_waits():
    plain = replace(WINDOWED, window_ms=0)
    assert commits(plain, instant()) == pytest.approx(80)


def test_a_producer_that_is_not_idempotent_leaves_nothing_in_the_head():
    """A head of 1,319 bytes is two units, and with fourteen producers of 55 it is 2,089: three."""
    load = replace(ALONE, producers=14)
    writes = [
        dollars(processes(replace(load, idempotent=is_so), instant()), "DynamoDB writes")
        for is_so in (True, False)
    ]
    rounds = 2 * ROUNDS
    assert writes[0] - writes[1] == pytest.approx((MONTH + 4 * rounds) * 0.625e-6)


def test_there_are_processes_enough_to_send_on_what_comes():
    """To S3 and to one group: 120 MB/s out, of which one sends 58."""
    load = a_load(messages_per_second=60, size=2**20, consumers=1)
    assert dollars(processes(load, SHIPPED), "EC2") == pytest.approx(3 * 730 * 0.0816)


def test_what_leaves_aws_is_paid_by_all_alike():
    load = a_load(consumers=1, internet=True)
    out = MONTH * 1_000 / 2**30 * 0.09
    for bill in (processes, msk, kafka):
        assert dollars(bill(load, SHIPPED), "transfer to the internet") == pytest.approx(out)
        assert len(bill(a_load(consumers=1), SHIPPED).lines) < len(bill(load, SHIPPED).lines)
