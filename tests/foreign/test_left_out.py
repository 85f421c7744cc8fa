"""Whatever passes on Apache Kafka and is not asked of Samsa stands on the page that says so."""

from pathlib import Path

import pytest
from foreign import test_franz_go, test_kafka_python

PAGE = Path(__file__).parents[2] / "docs" / "not-supported.md"
LEFT_OUT = {
    **test_franz_go.LEFT_OUT,
    **test_kafka_python.LEFT_OUT,
}


@pytest.mark.parametrize("name", [k for k, v in LEFT_OUT.items() if "on Apache Kafka too" not in v])
def test_a_test_that_is_left_out_is_on_the_page(name: str) -> None:
    assert f"`{name}`" in PAGE.read_text()
