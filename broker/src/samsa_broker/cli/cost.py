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

from samsa_broker.cost import BILLS, BadPrices, Load, Prices, break_evens
from samsa_broker.cost.prices import laid_over

from .client import ClientError
from .cost_text import as_json, report, table
from .options import add_command, add_number

USUAL = Load(messages_per_second=10.0)
EPILOG = """
what is compared:
  Samsa, functions    the bundle: API Gateway, Lambda, DynamoDB, S3 (make deploy)
  Samsa, processes    samsa up on EC2, on DynamoDB and S3
  MSK Serverless      Amazon's own
  Kafka on EC2        three brokers or more in three zones, three copies, on EBS

how to read it:
  Samsa pays for calls where Kafka pays for machines. Each commit is some writes of DynamoDB, and a
  put of S3 if it is larger than 4 KB: the more a commit has, the cheaper. Three things make it have
  more, each for the price of the time that it waits:
    --window-ms 250          of `samsa up`: what comes to a process meanwhile shares its puts
    --shim-linger-ms 100     of `samsa shim`: produces of one client share a message and a call
    --linger-ms 500 --batch-bytes 1000000       the clients' own linger.ms and batch.size
  Members of a group cost something even when idle: each sends heartbeats and commits.

what it is made of:
  How many calls a request takes is counted in tests. Prices are public list prices in one file that
  names their pages and months, and what is assumed of machines and latencies: --show-prices prints
  it, and --prices lays a file of your own over it. Free tiers, discounts, taxes and people are not
  counted.

examples:
  samsa cost --messages-per-second 50 --size 500 --producers 5 --consumers 5
  samsa cost --messages-per-second 5000 --window-ms 250 --shim-linger-ms 100
  samsa cost --table                      from no clients at all to 100,000 messages a second
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
    run_by = cost.add_argument_group("how Samsa is run")
    how_run = partial(add_number, run_by)
    how_run("--window-ms", _rate, USUAL.window_ms, "`samsa up --window-ms`")
    how_run("--shim-linger-ms", _rate, USUAL.shim_linger_ms, "`samsa shim --linger-ms`")
    run_by.add_argument(
        "--load-balancer",
        action="store_true",
        help="clients reach the processes through one, as one node: a partition's clients do not "
        "meet in one process",
    )
    shown = cost.add_argument_group("what is shown")
    shown.add_argument("--prices", metavar="FILE", help="TOML: what differs from --show-prices")
    how = shown.add_mutually_exclusive_group()
    how.add_argument("--json", action="store_true", help="print everything as JSON, for programs")
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
    """Raises ClientError if these numbers contradict each other."""
    if given.messages_per_second and not given.producers:
        raise ClientError("messages need a producer: --producers 1, or --messages-per-second 0")
    if given.consumers and given.groups > given.consumers:
        raise ClientError(
            f"{given.consumers} consumers cannot form {given.groups} groups: "
            f"--groups {given.consumers} at most"
        )
    return Load(
        messages_per_second=given.messages_per_second,
        size=given.size,
        producers=given.producers,
        consumers=given.consumers,
        groups=given.groups,
        partitions=given.partitions,
        batch_bytes=given.batch_bytes,
        linger_ms=given.linger_ms,
        retention_hours=given.retention_hours,
        keyed=given.keyed,
        idempotent=not given.no_idempotence,
        internet=given.internet,
        window_ms=given.window_ms,
        shim_linger_ms=given.shim_linger_ms,
        load_balancer=given.load_balancer,
    )


def shipped() -> str:
    return resources.files("samsa_broker.cost").joinpath("prices.toml").read_text("utf-8")


def prices_of(path: str | None) -> Prices:
    """Raises ClientError if the file cannot be used."""
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
