"""Options that several commands share."""

import argparse

DEFAULT_BOOTSTRAP = "127.0.0.1:9092"


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


def add_logs(parser: argparse.ArgumentParser) -> None:
    logs = parser.add_argument_group("logs")
    logs.add_argument(
        "--log-level", choices=("debug", "info", "warning", "error"), default="info",
        help="from which weight on (%(default)s)",
    )  # fmt: skip
    logs.add_argument(
        "--log-format", choices=("text", "json"), default="text",
        help="for people or for programs (%(default)s)",
    )  # fmt: skip


def add_bootstrap(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--bootstrap",
        metavar="HOST:PORT",
        default=DEFAULT_BOOTSTRAP,
        help="the broker to talk to (%(default)s)",
    )
