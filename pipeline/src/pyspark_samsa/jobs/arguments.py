"""Command line arguments that several jobs share."""

import argparse
import os
from datetime import UTC, datetime
from pathlib import Path

from pyspark_samsa.errors import BadOption
from pyspark_samsa.options import ENVIRONMENT

DAY, LEAST_DIGITS = 8, 12
LAST_MS = 253_402_300_799_999
"""The end of the year 9999."""


def job_parser(job: str, description: str, examples: str) -> argparse.ArgumentParser:
    """The parser of a job that reads or writes topics."""
    parser = argparse.ArgumentParser(
        prog=f"samsa pipeline {job}",
        description=description,
        epilog=f"examples:\n{examples}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    log = parser.add_argument_group("where the log is")
    log.add_argument(
        "--data", metavar="DIR", default="samsa-data",
        help="the folder of a `samsa up` (./%(default)s)",
    )  # fmt: skip
    log.add_argument("--ledger", metavar="URL", help="sqlite:///… or dynamodb://…")
    log.add_argument("--objects", metavar="URL", help="file:///… or s3://…")
    spark = parser.add_argument_group("Spark, unless spark-submit has set it up")
    spark.add_argument("--cores", metavar="N", default="*", help="of this machine (all)")
    spark.add_argument(
        "--conf", metavar="NAME=VALUE", action="append", default=[], type=pair,
        help="a setting of Spark's; may be repeated",
    )  # fmt: skip
    return parser


def pair(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals:
        raise argparse.ArgumentTypeError(f"{text!r} is not NAME=VALUE")
    return name, value


def add_since(parser: argparse.ArgumentParser, what: str = "records") -> None:
    parser.add_argument(
        "--since", metavar="TIME", type=moment,
        help=f"only {what} from then on: 2026-01-31, 2026-01-31T08:00, or milliseconds since 1970"
        " (twelve digits or more)",
    )  # fmt: skip


def add_until(parser: argparse.ArgumentParser, what: str = "records") -> None:
    parser.add_argument(
        "--until", metavar="TIME", type=moment, help=f"only {what} before then"
    )  # fmt: skip


def moment(text: str) -> int:
    """Milliseconds since 1970. A time without a zone is in UTC. Eight digits are a day; fewer than
    twelve are no milliseconds, but a mistake, or seconds."""
    if text.isdecimal() and len(text) != DAY:
        ms = int(text)
        if len(text) < LEAST_DIGITS or ms > LAST_MS:
            raise argparse.ArgumentTypeError(
                f"{text!r} is neither a day such as 20260131 nor milliseconds since 1970 such as"
                " 1769817600000"
            )
        return ms
    try:
        time = datetime.fromisoformat(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is no time such as 2026-01-31T08:00") from None
    aware = time if time.tzinfo else time.replace(tzinfo=UTC)
    ms = round(aware.timestamp() * 1000)
    if ms < 0:
        raise argparse.ArgumentTypeError(f"{text!r} is before 1970")
    return ms


def where_the_log_is(given: argparse.Namespace) -> dict[str, str]:
    """Options of the format: from the arguments, else from the environment, else for the folder."""
    data = Path(given.data).absolute()
    local = {"ledger": f"sqlite://{data}/ledger.db", "objects": f"file://{data}/objects"}
    urls = {
        name: getattr(given, name) or os.environ.get(ENVIRONMENT[name]) or local[name]
        for name in ENVIRONMENT
    }
    if urls["ledger"] == local["ledger"] and not (data / "ledger.db").exists():
        raise BadOption(f"there is no ledger in {data}; --data or --ledger says where it is")
    return urls
