"""Options that several commands share."""

import argparse

DEFAULT_BOOTSTRAP = "127.0.0.1:9092"


def config_pair(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals:
        raise argparse.ArgumentTypeError(f"{text!r} is not NAME=VALUE")
    return name, value


def add_bootstrap(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--bootstrap",
        metavar="HOST:PORT",
        default=DEFAULT_BOOTSTRAP,
        help="the broker to talk to (%(default)s)",
    )
