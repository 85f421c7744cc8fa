"""samsa: a Kafka broker with no brokers.

samsa up                          start a broker on 127.0.0.1:9092
samsa topics create orders        make a topic
echo hello | samsa produce orders write to it
samsa consume orders              read it from the beginning
samsa groups describe billing     how far a consumer group has come
samsa cost --table                what it would cost on AWS, beside other Kafkas
"""

import argparse
import sys
from collections.abc import Sequence

from samsa import __version__
from samsa.cli import consume, cost, demo, groups, janitor, local_api, produce, shim, topics, up
from samsa.cli.client import ClientError


def parser() -> argparse.ArgumentParser:
    root = argparse.ArgumentParser(
        prog="samsa",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    root.add_argument("--version", action="version", version=f"samsa {__version__}")
    commands = root.add_subparsers(dest="command", metavar="COMMAND", required=True)
    for module in (up, topics, groups, produce, consume, shim, local_api, cost, janitor, demo):
        module.add_to(commands)
    return root


def main(arguments: Sequence[str] | None = None) -> int:
    given = parser().parse_args(arguments)
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
