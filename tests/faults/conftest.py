import os
import random
from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pytest
from faults.cluster import Cluster, a_cluster
from support.stores import BUCKET

names = count()


@pytest.fixture
def seed() -> str:
    """Given again as SAMSA_FAULT_SEED, it makes the same plan; the requests may still differ."""
    seed = os.environ.get("SAMSA_FAULT_SEED") or str(random.randrange(1_000_000))
    print(f"SAMSA_FAULT_SEED={seed}")
    return seed


@pytest.fixture
def cluster(stores: tuple[str, str], seed: str, tmp_path: Path) -> Iterator[Cluster]:
    with a_cluster(*stores, f"faults-{next(names)}", BUCKET, seed, tmp_path) as cluster:
        yield cluster
