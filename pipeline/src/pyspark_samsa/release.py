"""Which Spark this is.

Releases before 4.2 lack what the formats need: writers of Arrow batches, and limits for a stream's
batches.
"""

from collections.abc import Mapping
from typing import NoReturn

import pyspark
from pyspark.sql.datasource import DataSource

from .errors import SamsaError

NEEDED = 4, 2


def is_new_enough(version: str = pyspark.__version__) -> bool:
    return tuple(map(int, version.split(".")[:2])) >= NEEDED


class TooOld(DataSource):
    """In the place of a format, so that a query of it ends with a sentence. Without it, Spark would
    find no other format either: it imports all of them to find one."""

    def __init__(self, options: Mapping[str, str]) -> NoReturn:  # noqa: ARG002
        raise SamsaError(f"Samsa needs Spark 4.2 or newer, and this is {pyspark.__version__}")
