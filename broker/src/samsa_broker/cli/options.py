"""Options that several commands share."""

import argparse
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

from samsa.ports.bounds import LONGEST_ZONE

from .client import ClientError

DEFAULT_BOOTSTRAP = "127.0.0.1:9092"
DEFAULT_REGISTRY = "http://127.0.0.1:8080"
DEFAULT_DATA = "samsa-data"


def config_pair(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals:
        raise argparse.ArgumentTypeError(f"{text!r} is not NAME=VALUE")
    return name, value


def port(text: str) -> int:
    if not text.isdigit() or int(text) > 65535:
        raise argparse.ArgumentTypeError(f"{text!r} is not a port (0 to 65535)")
    return int(text)


def address(text: str) -> tuple[str, int]:
    host, colon, number = text.rpartition(":")
    if not colon or not host:
        raise argparse.ArgumentTypeError(f"{text!r} is not HOST:PORT")
    return host.strip("[]"), port(number)


def whole(text: str) -> int:
    if not text.isdigit():
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number")
    return int(text)


def positive(text: str) -> int:
    if not text.isdigit() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number above 0")
    return int(text)


def zone(text: str) -> str:
    if not text.isprintable() or not 0 < len(text) <= LONGEST_ZONE:
        raise argparse.ArgumentTypeError(
            f"{text!r} is not a name of 1 to {LONGEST_ZONE} characters"
        )
    return text


def seconds(text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = 0.0
    if not 0 < number < math.inf:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of seconds above 0")
    return number


def add_number(
    group: Any, name: str, kind: Callable[[str], Any], default: float, what: str, metavar: str = "N"
) -> None:
    text = f"{what} (%(default)s)"
    group.add_argument(name, metavar=metavar, type=kind, default=default, help=text)


def add_command(
    commands: Any, name: str, *, brief: str, description: str, epilog: str
) -> argparse.ArgumentParser:
    """Adds a command, or one of its actions. Its help ends with examples, printed as written."""
    command: argparse.ArgumentParser = commands.add_parser(
        name,
        help=brief,
        description=description,
        epilog=epilog,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    return command


def add_logs(parser: argparse.ArgumentParser) -> None:
    logs = parser.add_argument_group("logs")
    logs.add_argument(
        "--log-level", choices=("debug", "info", "warning", "error"), default="info",
        help="the least severe lines that are logged (%(default)s)",
    )  # fmt: skip
    logs.add_argument(
        "--log-format", choices=("text", "json"), default="text",
        help="text for people, or JSON for programs (%(default)s)",
    )  # fmt: skip


def add_check(parser: argparse.ArgumentParser, what: str) -> None:
    parser.add_argument("--no-check", dest="check", action="store_false", help=what)


def add_stores(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--data", metavar="DIR", default=DEFAULT_DATA, help="where local data is (./%(default)s)"
    )
    parser.add_argument(
        "--ledger", metavar="URL", help="sqlite:///… or dynamodb://… (a SQLite file in --data)"
    )
    parser.add_argument("--objects", metavar="URL", help="file:///… or s3://… (a folder in --data)")


def store_urls(given: argparse.Namespace) -> tuple[str, str]:
    """The URLs of the ledger and the objects."""
    data = Path(given.data).absolute()
    if not given.ledger and (data / "table.db").exists():
        raise ClientError(
            f"{data} holds the table of functions: start samsa local-api --data {given.data}, or "
            "name another folder"
        )
    return given.ledger or f"sqlite://{data}/ledger.db", given.objects or f"file://{data}/objects"


def add_bootstrap(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--bootstrap",
        metavar="HOST:PORT",
        default=DEFAULT_BOOTSTRAP,
        help="the broker to talk to (%(default)s)",
    )
    parser.add_argument(
        "--command-config",
        metavar="FILE",
        help="how to log in there: lines such as security.protocol=sasl_ssl, with the names of "
        "librdkafka",
    )


def add_registry(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--registry",
        metavar="URL",
        default=DEFAULT_REGISTRY,
        help="the schema registry to ask: where samsa up serves HTTP (%(default)s)",
    )
