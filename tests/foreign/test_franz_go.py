"""franz-go's own tests on `samsa up`: what passes on a single Apache Kafka passes here.

Which pass there is asked by SAMSA_TEST_BOOTSTRAP=host:port, the address of an Apache Kafka.
"""

import pytest
from foreign import franz_go
from support.broker import Broker

ETL = ["TestGroupETL"]
TRANSACTIONAL_ETL = ["TestTxnEtl"]
"""Each on its own: it takes as long as the others together."""

OTHERS = [
    "Test848RegexBrokerResolves",
    "TestAddRemovePartitions",
    "TestClient_Produce",
    "TestClient_ProduceLargeMessages",
    "TestConsumeMaxDecompressBatchBytes",
    "TestConsumeRegex",
    "TestConsumeTopicRetrieval",
    "TestConsumeTopicRetrieval_Many",
    "TestDirectPartitionPurge",
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

SHARE_GROUPS = "share groups: docs/not-supported.md"
LEFT_OUT = {
    "TestConsumeRegexShareSkipsInternal": SHARE_GROUPS,
    "TestIssueProduceBrokerTooOldFailsRecords": "skips itself on Apache Kafka too: for old brokers",
    "TestShareGroup": SHARE_GROUPS,
    "TestShareGroupAckOnClose": SHARE_GROUPS,
    "TestShareGroupETL": SHARE_GROUPS,
    "TestShareGroupOffsetsAdmin": SHARE_GROUPS,
}


@pytest.mark.parametrize(
    "names",
    [ETL, TRANSACTIONAL_ETL, OTHERS],
    ids=["the ETL", "the transactional ETL", "the others"],
)
def test_the_tests_of_franz_go_pass(names: list[str], broker: Broker) -> None:
    verdicts, said = franz_go.run(names, broker.bootstrap)
    bad = {name: verdict for name, verdict in verdicts.items() if verdict != "PASS"}
    assert not bad, said[-8000:]
    assert set(names) <= verdicts.keys(), said[-8000:]


def test_every_test_of_franz_go_that_dials_is_run_or_left_out_for_a_reason() -> None:
    assert franz_go.that_dial() == {*ETL, *TRANSACTIONAL_ETL, *OTHERS, *LEFT_OUT}
