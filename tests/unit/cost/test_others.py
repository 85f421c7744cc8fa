"""The bills of processes, of MSK Serverless and of Kafka on EC2, by hand."""

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
    SHIPPED,
    a_load,
    dollars,
    instant,
)

from samsa.cost import kafka, msk, processes

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
    assert dollars(bill, "load balancer") == pytest.approx(730 * 0.0225 + 2 * written_gb * 0.006)
    assert dollars(bill, "traffic between zones") == pytest.approx(2 * written_gb * 2 / 3 * 0.02)
    rounds = 2 * ROUNDS
    calls = MONTH + ROUND_CALLS * rounds
    assert dollars(bill, "S3 puts and lists") == pytest.approx(calls * 5e-6)
    # An append and its end; two watches; a beat, a commit; and two processes that announce
    # themselves.
    writes = 5 + 2 / 30 + 1 / 9 + 1 / 5 + 2 / 3
    writes = writes * MONTH + ROUND_WRITES * rounds
    assert dollars(bill, "DynamoDB writes") == pytest.approx(writes * 0.625e-6)
    reads = (3 + 2 + 1 / 3 + 1 / 5 + 2 / 14 + 2 / 3) * MONTH + rounds * (ROUND_READS + INDEX_READS)
    assert dollars(bill, "DynamoDB reads") == pytest.approx(reads * 0.125e-6)
    # One in two readers is at the process that wrote; and a janitor gets it, one in ten again.
    assert dollars(bill, "S3 gets") == pytest.approx((1 / 2 + 1.1) * MONTH * 0.4e-6)


def test_however_many_write_a_process_makes_no_more_slots_than_it_has_time_for():
    """Reserve, bind, confirm and extent of 5 ms, and a put of 25: 45 ms a slot."""
    crowd = a_load(messages_per_second=1e6, size=1, producers=10_000, batch_bytes=1)
    calls = dollars(processes(crowd, SHIPPED), "S3 puts and lists") / 5e-6
    puts = calls - ROUND_CALLS * 2 * ROUNDS
    assert puts / MONTH == pytest.approx(2 / 0.045, rel=1e-3)


def test_a_producer_that_is_not_idempotent_binds_nothing():
    writes = [
        dollars(processes(replace(ALONE, idempotent=is_so), instant()), "DynamoDB writes")
        for is_so in (True, False)
    ]
    assert writes[0] - writes[1] == pytest.approx(MONTH * 0.625e-6)


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
