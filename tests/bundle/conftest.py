from collections.abc import Iterator

import pytest
from bundle.given_gateway import Cluster, serving_pushes


@pytest.fixture
def cluster(environment: dict[str, str]) -> Iterator[Cluster]:
    with serving_pushes() as pushes:
        yield Cluster(environment, pushes)
