"""samsa: a Kafka broker with no brokers.

samsa up                          start a broker on 127.0.0.1:9092
samsa topics create orders        make a topic
echo hello | samsa produce orders write to it
samsa consume orders              read it from the beginning
samsa groups describe billing     how far a consumer group has come
samsa transactions list           which transactional ids there are, and in which state
samsa users add alice             let a user log in; acls and quotas say what it may do
samsa schemas list                which schemas the registry has
samsa cost --table                what it would cost on AWS, beside other Kafkas
"""

import argparse
import sys
from collections.abc import Sequence
from importlib import import_module

from samsa import __version__
from samsa_broker.cli.client import ClientError

COMMANDS = (
    "up", "topics", "groups", "transactions", "users", "acls", "quotas", "schemas",
    "produce", "consume", "console", "shim", "local-api", "cost", "janitor", "demo", "pipeline",
)  # fmt: skip


def parser(wanted: str = "") -> argparse.ArgumentParser:
    """For the wanted command only, or for all: importing most of them takes longer than running
    them."""
    root = argparse.ArgumentParser(
        prog="samsa",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    root.add_argument("--version", action="version", version=f"samsa {__version__}")
    commands = root.add_subparsers(dest="command", metavar="COMMAND", required=True)
    for name in [wanted] if wanted in COMMANDS else COMMANDS:
        import_module(f"samsa_broker.cli.{name.replace('-', '_')}").add_to(commands)
    return root


def main(arguments: Sequence[str] | None = None) -> int:
    words = sys.argv[1:] if arguments is None else arguments
    known = parser(words[0] if words else "")
    given, unknown = known.parse_known_args(words)
    if unknown:
        from samsa_broker.cli.mistakes import why_not  # difflib is slow to load, and seldom needed

        known.error(why_not(known, words, unknown))
    try:
        result: int = given.run(given)
        return result
    except ClientError as error:
        print(f"samsa: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        sys.stderr.close()
        return 0


if __name__ == "__main__":
    sys.exit(main())
