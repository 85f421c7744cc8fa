"""How topic-to-table fills a table: kept in the checkpoint, so that all of its runs do the same.

Otherwise a table would hold rows of several kinds: text and bytes, with headers and without.
"""

import argparse
import asyncio
import json
from collections.abc import Mapping
from typing import Any, TypeAlias

from pyspark.sql import SparkSession

from pyspark_samsa.access import opened
from pyspark_samsa.columns import HEADERS, KEY
from pyspark_samsa.errors import SamsaError
from pyspark_samsa.jobs.folders import Folder
from pyspark_samsa.jobs.latest import LATEST
from pyspark_samsa.jobs.tables import ICEBERG, Table
from pyspark_samsa.options import Names
from pyspark_samsa.subscribed import subscribed

FILE = "samsa.json"
TOPIC_ID = "topic id"
Flags: TypeAlias = Mapping[str, Any]


def check_flags(
    spark: SparkSession, given: argparse.Namespace, log: Mapping[str, str], table: Table,
    checkpoint: Folder,
) -> None:  # fmt: skip
    """Keep the flags of the first run, and refuse others. Raises SamsaError, UnknownTopic."""
    kept = checkpoint / FILE
    before = _before(spark, given, table, checkpoint)
    now = {**flags(given), TOPIC_ID: asyncio.run(_topic_id(log, given.topic))}
    if given.since is None:
        now["since"] = before.get("since")  # it says where the first run starts
    differ = different(before, now)
    if differ:
        raise SamsaError(
            f"{table} was filled in another way: {'; '.join(differ)}. Rows of both kinds are not"
            f" mixed: repeat the flags, name another table, or delete this one and {checkpoint} to"
            " fill it anew"
        )
    if given.mode == LATEST and before.get(TOPIC_ID, now[TOPIC_ID]) != now[TOPIC_ID]:
        raise SamsaError(
            f"the topic {given.topic} was deleted, and made again: its offsets do not say any more"
            f" which record of a key is the latest. Delete {table} and {checkpoint} to fill it anew"
        )
    kept.write(json.dumps(now).encode())


def flags(given: argparse.Namespace) -> dict[str, Any]:
    names = "topic", "mode", "format", "text", "headers", "since", "partition_by"
    found = {name: getattr(given, name) for name in names}
    # The checkpoint of an Iceberg table is not beside it, and may be named with another table.
    return found | ({"table": given.table} if given.format == ICEBERG else {})


def different(before: Flags, now: Flags) -> list[str]:
    """What is different, in words. What is not known of before is not."""
    return [
        f"{name.replace('_', '-')} was {_word(before[name])}, and is {_word(now[name])} now"
        for name in now
        if name in before and name != TOPIC_ID and before[name] != now[name]
    ]


def _word(value: object) -> str:
    return {True: "on", False: "off", None: "not given"}.get(value, str(value))  # type: ignore[call-overload,no-any-return]


def _before(
    spark: SparkSession, given: argparse.Namespace, table: Table, checkpoint: Folder
) -> Flags:
    if not table.exists() and (checkpoint / "offsets").is_empty():
        return {}  # nothing has been read yet
    kept = checkpoint / FILE
    if kept.exists():
        found: Flags = json.loads(kept.read())
        return found
    is_older = table.exists() and given.format != ICEBERG
    return _of_table(spark, given, table) if is_older else {}


def _of_table(spark: SparkSession, given: argparse.Namespace, table: Table) -> Flags:
    """What the table itself tells, if an older release has begun it."""
    columns = dict(spark.read.format(given.format).load(str(table)).dtypes)
    return {"text": columns.get(KEY) == "string", "headers": HEADERS in columns}


async def _topic_id(log: Mapping[str, str], topic: str) -> str:
    async with opened(log["ledger"], log["objects"]) as access:
        partitions = await subscribed(access.ledger, Names((topic,)))
    return str(next(iter(partitions.values())).topic_id)
