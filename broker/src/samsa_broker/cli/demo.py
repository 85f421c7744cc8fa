"""samsa demo: the demos. This module has the trucks, which write data to a running broker."""

import argparse
import random
import time
from datetime import UTC, datetime
from itertools import islice
from typing import Any

from samsa.wire.apis import ApiKey
from samsa.wire.errors import ErrorCode
from samsa.wire.messages import create_topics
from samsa_broker.demo.story import Form, Plot, tell

from . import demo_serverless
from .client import Client, check
from .demo_writing import DemoWriter
from .options import add_bootstrap

TOPIC, DEAD_LETTERS = "trucks", "trucks-dead-letters"
EXAMPLES = """
examples:
  samsa demo trucks                                       100 positions a second until Ctrl-C
  samsa demo trucks --rate 5 --count 18000 --fast         an hour of them, written at once
  samsa demo trucks --format avro --bad 0.05 --seed 7
"""


def add_to(commands: Any) -> None:
    demo = commands.add_parser(
        "demo",
        help="try things: the functions on this machine, or made-up data",
        description="Demos. Without a name, they are listed.",
    )
    stories = demo.add_subparsers(dest="story", metavar="DEMO")
    demo.set_defaults(run=lambda _: list_demos(stories))
    demo_serverless.add_to(stories)
    trucks = stories.add_parser(
        "trucks",
        help="positions of a fleet of trucks",
        description="Trucks that drive between cities and say where they are, keyed by truck, so "
        "that the positions of one stay in order. A few are late, a few cannot be read, and now "
        "and then a truck leaves, which is a record without a value. The topic is made if it is "
        f"not there, and {DEAD_LETTERS} with it, for what the pipeline cannot read.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    trucks.add_argument("--topic", default=TOPIC, metavar="NAME", help="the topic (%(default)s)")
    trucks.add_argument(
        "--partitions", type=_whole, default=3, metavar="N", help="of a new topic (%(default)s)"
    )
    trucks.add_argument(
        "--trucks", type=_whole, default=20, metavar="N", help="how many (%(default)s)"
    )
    trucks.add_argument(
        "--rate", type=_more_than_nothing, default=100.0, metavar="N",
        help="positions a second, of all trucks together (%(default)g)",
    )  # fmt: skip
    trucks.add_argument("--count", type=_whole, metavar="N", help="stop after N records (never)")
    trucks.add_argument(
        "--fast", action="store_true",
        help="do not wait: as fast as the broker takes them, with the times they would have had",
    )  # fmt: skip
    trucks.add_argument(
        "--format", choices=[form.value for form in Form], default=Form.JSON.value,
        help="of the values; mixed: both formats (%(default)s)",
    )  # fmt: skip
    for name, share, what in (
        ("--bad", 0.01, "that cannot be read"),
        ("--late", 0.01, "that are one to thirty minutes late"),
        ("--gone", 0.0002, "with which a truck leaves"),
    ):
        trucks.add_argument(
            name, type=_share, default=share, metavar="SHARE", help=f"{what} (%(default)s)"
        )
    trucks.add_argument(
        "--seed",
        type=int,
        default=1,
        metavar="N",
        help="another seed gives other data (%(default)s)",
    )
    trucks.add_argument(
        "--start", type=_moment, metavar="TIME",
        help="of the first, as 2026-01-31T12:00:00Z (now; with --fast and --count such that the "
        "last is now)",
    )  # fmt: skip
    add_bootstrap(trucks)
    trucks.set_defaults(run=run)


def list_demos(stories: Any) -> int:
    for choice in stories._choices_actions:
        print(f"samsa demo {choice.dest:<12} {choice.help}")
    print("With --help each of them says more.")
    return 0


def run(given: argparse.Namespace) -> int:
    client = Client.of(given)
    _make(client, {given.topic: given.partitions, DEAD_LETTERS: 1})
    partitions = len(client.topic(given.topic).partitions)
    story = tell(_plot(given), random.Random(given.seed))  # noqa: S311  # repeatable
    rate = None if given.fast else given.rate
    with DemoWriter(client, given.topic, partitions, given.count) as writer:
        writer.write(islice(story, given.count), rate)
    return 0


def _plot(given: argparse.Namespace) -> Plot:
    step_ms = 1000 / given.rate
    return Plot(
        trucks=given.trucks,
        form=Form(given.format),
        bad=given.bad,
        late=given.late,
        gone=given.gone,
        start_ms=_start(given, step_ms) if given.start is None else given.start,
        step_ms=step_ms,
    )


def _start(given: argparse.Namespace, step_ms: float) -> int:
    now = time.time_ns() // 1_000_000
    return now - round((given.count or 0) * step_ms) if given.fast else now


def _make(client: Client, topics: dict[str, int]) -> None:
    asked = [
        create_topics.TOPIC(name=name, num_partitions=count, replication_factor=-1)
        for name, count in topics.items()
    ]
    answer = client.ask(ApiKey.CREATE_TOPICS, create_topics.REQUEST(topics=asked))
    for made in answer.topics:
        if made.error_code != ErrorCode.TOPIC_ALREADY_EXISTS:
            check(made.error_code, made.error_message, f"topic {made.name!r}")


def _whole(text: str) -> int:
    if not text.isdigit() or int(text) == 0:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number above 0")
    return int(text)


def _more_than_nothing(text: str) -> float:
    number = _number(text)
    if not 0 < number < 1e6:
        raise argparse.ArgumentTypeError(f"{text!r} is not between 0 and a million")
    return number


def _share(text: str) -> float:
    number = _number(text)
    if not 0 <= number <= 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a share, which is from 0 to 1")
    return number


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number") from None


def _moment(text: str) -> int:
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not a time like 2026-01-31T12:00Z") from None
    return round((moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp() * 1000)
