"""kafka-python's own integration tests on `samsa up`: what passes on one Apache Kafka passes here.

Which pass there is asked by SAMSA_TEST_BOOTSTRAP=host:port, the address of an Apache Kafka.
"""

import pytest
from clients.adapters.confluent import Confluent
from foreign import kafka_python
from foreign.secured import SecuredBroker
from support.broker import Broker

PASS = {
    "test_admin_integration.py": [
        "test_alter_partition_reassignments",
        "test_alter_replica_log_dirs",
        "test_create_delete_topics",
        "test_create_partitions",
        "test_delete_groups",
        "test_delete_groups_with_errors",
        "test_delete_records",
        "test_delete_records_with_errors",
        "test_describe_configs_broker_resource_returns_configs",
        "test_describe_configs_invalid_broker_id_raises",
        "test_describe_configs_mixed_resources_returns_configs",
        "test_describe_configs_topic_resource_returns_configs",
        "test_describe_group_exists",
        "test_describe_log_dirs",
        "test_describe_metadata_quorum",
        "test_describe_topic_partitions",
        "test_describe_topic_partitions_pagination",
        "test_elect_leaders",
        "test_list_config_resources",
        "test_list_partition_offsets",
        "test_list_partition_reassignments",
    ],
    "test_consumer_integration.py": [
        "test_consumer",
        "test_consumer_topics",
        "test_heartbeat_thread",
        "test_kafka_consumer",
        "test_kafka_consumer__blocking",
        "test_kafka_consumer__offset_commit_resume",
        "test_kafka_consumer_max_bytes_one_msg",
        "test_kafka_consumer_max_bytes_simple",
        "test_kafka_consumer_offsets_for_time",
        "test_kafka_consumer_offsets_for_times_errors",
        "test_kafka_consumer_offsets_search_many_partitions",
        "test_kafka_consumer_position_after_seek_to_end",
        "test_kafka_consumer_unsupported_encoding",
        "test_kafka_version_infer",
        "test_paused",
    ],
    "test_producer_integration.py": [
        "test_end_to_end",
        "test_idempotent_producer",
        "test_idempotent_producer_high_throughput",
        "test_idempotent_producer_max_in_flight",
        "test_kafka_producer_proper_record_metadata",
        "test_transactional_producer_messages",
        "test_transactional_producer_offsets",
    ],
}

ACLS = "test_create_describe_delete_acls"
"""Fails on an Apache Kafka without an authorizer too."""
SECURED = {
    "test_sasl_integration.py": ["test_admin", "test_produce_and_consume", "test_client"],
    "test_ssl_integration.py": ["test_ssl_handshake", "test_legacy_kafka_client_ssl"],
}
"""They would start brokers of their own, and get one that runs."""
MECHANISMS = ["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"]
LEFT_OUT = {
    "test_group": "fails on Apache Kafka too: a session of 3 s is below its default minimum of 6 s",
    "test_kafka_consumer_offsets_for_time_old": "skips itself on Apache Kafka too: for old brokers",
}

TWO_PARTITIONS = "transactional_test_topic"
"""One test speaks of its partition 1, which Apache Kafka has only if it is told so."""


@pytest.fixture(scope="session")
def two_partitions(broker: Broker) -> None:
    """For the session, as its broker: workers that share tests may come back to a module."""
    Confluent(broker.bootstrap).create_topic(TWO_PARTITIONS, 2, {})


@pytest.mark.usefixtures("two_partitions")
@pytest.mark.parametrize("file", PASS)
def test_every_test_of_kafka_python_passes_but_those_left_out(file: str, broker: Broker) -> None:
    verdicts, said = kafka_python.run(file, [*LEFT_OUT, ACLS], broker.bootstrap)
    assert verdicts == dict.fromkeys(PASS[file], "PASSED"), said[-8000:]


def test_the_test_of_acls_passes_where_there_are_some(secured: SecuredBroker) -> None:
    verdicts, said = kafka_python.run_one("test_admin_integration.py", ACLS, secured.bootstrap)
    assert verdicts == {ACLS: "PASSED"}, said[-8000:]


@pytest.mark.parametrize("file", SECURED)
def test_every_test_of_kafka_python_with_sasl_and_tls_passes(
    file: str, secured: SecuredBroker
) -> None:
    verdicts, said = kafka_python.run_secured(file, secured)
    assert verdicts == dict.fromkeys(SECURED[file], "PASSED"), said[-8000:]
    if "sasl" in file:
        for name in SECURED[file]:
            assert all(f"{name}[{mechanism}]" in said for mechanism in MECHANISMS)


def test_no_file_of_kafka_python_is_forgotten() -> None:
    assert kafka_python.files() == {*PASS, *SECURED}
