"""franz-go's own tests on `samsa up`: what passes on a single Apache Kafka passes here.

Which pass there is asked by SAMSA_TEST_BOOTSTRAP=host:port, the address of an Apache Kafka.
"""

import re

import pytest
from foreign import franz_go
from support.broker import Broker

PASS = [
    "TestAddRemovePartitions",
    "TestClient_Produce",
    "TestClient_ProduceLargeMessages",
    "TestConsumeMaxDecompressBatchBytes",
    "TestConsumeTopicRetrieval",
    "TestConsumeTopicRetrieval_Many",
    "TestDirectPartitionPurge",
    "TestGroupETL",
    "TestGroupSimple",
    "TestHookPollStart",
    "TestIssue1034",
    "TestIssue325",
    "TestIssue337",
    "TestIssue434",
    "TestIssue523",
    "TestIssue648",
    "TestIssue769",
    "TestIssue810",
    "TestIssue831",
    "TestIssue865",
    "TestIssueFetchLargerThanBrokerMaxReadBytes",
    "TestIssueProduceSyncManualPartitionNegativeDoesNotPanic",
    "TestPauseIssue489",
    "TestPauseIssueOct2023",
    "TestPing",
    "TestPooling",
    "TestUnknownGroupOffsetFetchPinned",
]

TRANSACTIONS = "transactions: docs/not-supported.md"
SHARE_GROUPS = "share groups: docs/not-supported.md"
INTERNAL_TOPICS = "looks for __consumer_offsets, and there are no internal topics here"
LEFT_OUT = {
    "Test848RegexBrokerResolves": INTERNAL_TOPICS,
    "TestConsumeRegex": INTERNAL_TOPICS,
    "TestConsumeRegexShareSkipsInternal": SHARE_GROUPS,
    "TestIssueProduceBrokerTooOldFailsRecords": "skips itself on Apache Kafka too: for old brokers",
    "TestShareGroup": SHARE_GROUPS,
    "TestShareGroupAckOnClose": SHARE_GROUPS,
    "TestShareGroupETL": SHARE_GROUPS,
    "TestShareGroupOffsetsAdmin": SHARE_GROUPS,
    "TestTxnEtl": TRANSACTIONS,
}


@pytest.mark.parametrize("name", PASS)
def test_a_test_of_franz_go_passes(name: str, broker: Broker) -> None:
    said = franz_go.run(name, broker.bootstrap)
    verdicts = re.findall(r"^ *--- (PASS|FAIL|SKIP): (\S+)", said, re.MULTILINE)
    assert ("PASS", name) in verdicts, said[-8000:]
    assert {verdict for verdict, _ in verdicts} == {"PASS"}, said[-8000:]


def test_every_test_of_franz_go_that_dials_is_run_or_left_out_for_a_reason() -> None:
    assert franz_go.that_dial() == {*PASS, *LEFT_OUT}
