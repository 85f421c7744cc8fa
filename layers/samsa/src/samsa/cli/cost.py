"""samsa cost: what a month would cost on AWS, beside MSK Serverless and Kafka on EC2."""

import argparse
import json
import math
import sys
import tomllib
from collections.abc import Callable
from functools import partial
from importlib import resources
from pathlib import Path
from typing import Any

from samsa.cost import BILLS, BadPrices, Load, Prices, break_evens
from samsa.cost.prices import laid_over

from .client import ClientError
from .cost_text import as_json, report, table
from .options import add_command, add_number

USUAL = Load(messages_per_second=10.0)
EPILOG = """
what is compared:
  Samsa, functions    the bundle: API Gateway, Lambda, DynamoDB, S3 (make deploy)
  Samsa, processes    samsa up on EC2 behind a load balancer, on DynamoDB and S3
  MSK Serverless      Amazon's own
  Kafka on EC2        three brokers or more in three zones, three copies, on EBS

how to read it:
  Samsa pays for calls where Kafka pays for machines. Each batch of a producer is a put of S3 and
  some writes of DynamoDB, however small it is: the larger the batches, the cheaper. Try
  --linger-ms 500 --batch-bytes 1000000 beside linger.ms and batch.size as you have them.
  Members of a group cost something even when idle: each sends heartbeats and commits.

what it is made of:
  How many calls a request takes is counted in tests. Prices are public list prices in one file that
  names their pages and months, and what is assumed of machines and latencies: --show-prices prints
  it, and --prices lays a file of your own over it. Free tiers, discounts, taxes and people are not
  counted.

examples:
  samsa cost --messages-per-second 50 --size 500 --producers 5 --consumers 5
  samsa cost --messages-per-second 5000 --linger-ms 500 --batch-bytes 1000000
  samsa cost --table                      from nobody connected to 100,000 messages a second
  samsa cost --show-prices                then --prices my.toml, with only what differs
  samsa cost --json | jq '.bills[] | {name, total}'
"""


def add_to(commands: Any) -> None:
    cost = add_command(
        commands,
        "cost",
        brief="what a month costs on AWS, beside MSK Serverless and Kafka on EC2",
        description="What a month would cost on AWS, line by line, and where Samsa is cheaper.",
        epilog=EPILOG,
    )
    load = cost.add_argument_group("the load")
    option = partial(add_number, load)
    option("--messages-per-second", _rate, USUAL.messages_per_second, "of all producers together")
    option("--size", _whole_from(1), USUAL.size, "bytes of a message, as it is sent")
    option("--producers", _whole_from(0), USUAL.producers, "how many")
    option("--consumers", _whole_from(0), USUAL.consumers, "how many, all members of groups")
    option("--groups", _whole_from(1), USUAL.groups, "that they form; each reads everything")
    option("--partitions", _whole_from(1), USUAL.partitions, "of all topics together")
    option("--batch-bytes", _whole_from(1), USUAL.batch_bytes, "the producers' batch.size")
    option("--linger-ms", _rate, USUAL.linger_ms, "the producers' linger.ms")
    option("--retention-hours", _rate, USUAL.retention_hours, "how long records are kept")
    load.add_argument(
        "--keyed", action="store_true", help="messages have keys: a batch for each partition"
    )
    load.add_argument(
        "--no-idempotence", action="store_true", help="producers with enable.idempotence=false"
    )
    load.add_argument(
        "--internet",
        action="store_true",
        help="consumers are outside of AWS, and not in its region",
    )
    shown = cost.add_argument_group("what is shown")
    shown.add_argument("--prices", metavar="FILE", help="TOML with what differs from --show-prices")
    how = shown.add_mutually_exclusive_group()
    how.add_argument("--json", action="store_true", help="everything, for programs")
    how.add_argument(
        "--table", action="store_true", help="totals at many rates instead of one bill, as Markdown"
    )
    how.add_argument(
        "--show-prices", action="store_true", help="the file of prices and assumptions, as shipped"
    )
    cost.set_defaults(run=run)


def run(given: argparse.Namespace) -> int:
    if given.show_prices:
        print(shipped(), end="")
        return 0
    load, prices = load_of(given), prices_of(given.prices)
    if given.table:
        print(table(load, prices))
        return 0
    bills = [bill(load, prices) for bill in BILLS]
    even = break_evens(load, prices)
    if given.json:
        json.dump(as_json(load, prices, bills, even), sys.stdout, indent=2)
        print()
    else:
        print(report(load, prices, bills, even))
    return 0


def load_of(given: argparse.Namespace) -> Load:
    """Raises ClientError: these numbers do not go together."""
    if given.messages_per_second and not given.producers:
        raise ClientError("somebody has to write: --producers 1, or --messages-per-second 0")
    if given.consumers and given.groups > given.consumers:
        raise ClientError(
            f"{given.consumers} consumers cannot form {given.groups} groups: "
            f"--groups {given.consumers} at most"
        )
    return Load(
        given.messages_per_second,
        given.size,
        given.producers,
        given.consumers,
        given.groups,
        given.partitions,
        given.batch_bytes,
        given.linger_ms,
        given.retention_hours,
        given.keyed,
        not given.no_idempotence,
        given.internet,
    )


def shipped() -> str:
    return resources.files("samsa.cost").joinpath("prices.toml").read_text("utf-8")


def prices_of(path: str | None) -> Prices:
    """Raises ClientError: the file cannot be used."""
    ours = tomllib.loads(shipped())
    if path is None:
        return Prices(ours)
    try:
        return Prices(laid_over(ours, tomllib.loads(Path(path).read_text("utf-8"))))
    except OSError as error:
        raise ClientError(f"{path}: {error.strerror}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ClientError(f"{path} is not TOML: {error}") from error
    except BadPrices as error:
        raise ClientError(f"{path}: {error}") from error


def _rate(text: str) -> float:
    try:
        number = float(text.replace(",", "").replace("_", ""))
    except ValueError:
        number = math.nan
    if not 0 <= number <= 1e9:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number from 0 to 1,000,000,000")
    return number


def _whole_from(least: int) -> Callable[[str], int]:
    def whole(text: str) -> int:
        digits = text.replace(",", "").replace("_", "")
        if not digits.isdecimal() or not least <= int(digits) <= 1_000_000_000:
            raise argparse.ArgumentTypeError(
                f"{text!r} is not a whole number from {least} to 1,000,000,000"
            )
        return int(digits)

    return whole
