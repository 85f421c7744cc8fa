"""What we offer, against what Apache Kafka 4.3 offers: each difference has its reason."""

import re
from pathlib import Path

from kafka.protocol.broker_version_data import infer_broker_version_from_api_versions
from property.wire.served import (
    DIFFERENT,
    OLDER,
    TELEMETRY,
    differences,
    kafkas,
    offered,
    ours,
)

from samsa.wire.apis import ApiKey

PAGE = Path(__file__).parents[3] / "docs" / "not-supported.md"


def test_every_difference_from_kafkas_table_has_a_reason_and_every_reason_a_difference():
    assert differences(ours(), kafkas()) == set(DIFFERENT)


def test_where_we_offer_more_it_is_only_what_kafka_dropped():
    kafka = kafkas()
    for key, (first, last) in ours().items():
        assert last == kafka[key][1], ApiKey(key)
        assert first == kafka[key][0] or (first == 0 and DIFFERENT[key] == OLDER), ApiKey(key)


def test_the_page_names_every_api_that_kafka_offers_and_we_do_not():
    page = PAGE.read_text()
    absent = [one for one in offered() if one["apiKey"] not in ours()]
    names = [one["name"].removesuffix("Request") for one in absent]
    assert len(names) == len(set(DIFFERENT) - set(ours())) + len(TELEMETRY)
    assert [name for name in names if not re.search(rf"\b{name}\b", page)] == []


def test_kafka_python_takes_us_for_kafka_4_3():
    assert infer_broker_version_from_api_versions(ours()) == (4, 3)
