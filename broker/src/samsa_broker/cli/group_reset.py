"""samsa groups reset-offsets: sets the offsets from which a group continues."""

import argparse
from datetime import datetime
from typing import TypeAlias

from samsa.wire.apis import ApiKey
from samsa.wire.errors import ErrorCode
from samsa.wire.group_offsets import LAST_BY_NAME, Where, commit_request

from .client import Client, ClientError, check
from .group_lag import committed
from .topics import EARLIEST, LATEST, offsets_at

Offsets: TypeAlias = dict[Where, int]
Asked: TypeAlias = tuple[str, list[int] | None]
"""A topic, and its partitions; None for all."""


def add_arguments(reset: argparse.ArgumentParser) -> None:
    reset.add_argument("group", help="its name")
    which = reset.add_mutually_exclusive_group(required=True)
    which.add_argument(
        "--topic", action="append", type=_topic, metavar="NAME[:N,N]", dest="topics",
        help="a topic, or some of its partitions; may be repeated",
    )  # fmt: skip
    which.add_argument(
        "--all-topics", action="store_true", help="every topic that the group has committed"
    )
    to = reset.add_mutually_exclusive_group(required=True)
    to.add_argument("--to-earliest", action="store_true", help="the oldest record there is")
    to.add_argument("--to-latest", action="store_true", help="only records that come from now on")
    to.add_argument("--to-offset", type=int, metavar="N", help="this offset")
    to.add_argument(
        "--to-datetime", type=_time, metavar="WHEN",
        help="the first record from then on, as 2026-01-31T12:00:00 (local time, or +01:00)",
    )  # fmt: skip
    to.add_argument("--shift-by", type=int, metavar="N", help="forward, or back if negative")
    reset.add_argument("--execute", action="store_true", help="do it (else it is only shown)")


def _topic(text: str) -> Asked:
    name, colon, numbers = text.partition(":")
    if not colon:
        return name, None
    if not all(number.isdigit() for number in numbers.split(",")):
        raise argparse.ArgumentTypeError(f"{text!r} is not NAME or NAME:0,1,2")
    return name, [int(number) for number in numbers.split(",")]


def _time(text: str) -> int:
    try:
        return int(datetime.fromisoformat(text).timestamp() * 1000)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not like 2026-01-31T12:00:00") from None


def reset_offsets(given: argparse.Namespace) -> int:
    client = Client.of(given)
    before = committed(client, given.group)
    after = _wanted(client, given, before)
    if given.execute:
        _commit(client, given.group, after)
    for (topic, number), offset in sorted(after.items()):
        was = before.get((topic, number), "-")
        print(f"{topic}\tpartition {number}\tfrom {was}\tto {offset}")
    if not given.execute:
        print("nothing has changed; add --execute to do it")
    return 0


def _wanted(client: Client, given: argparse.Namespace, before: Offsets) -> Offsets:
    wanted: Offsets = {}
    for topic, numbers in _partitions(client, given, before).items():
        first = offsets_at(client, topic, numbers, EARLIEST)
        last = offsets_at(client, topic, numbers, LATEST)
        found = _targets(client, given, topic, numbers, before)
        for number in numbers:
            target = last[number] if found[number] < 0 else found[number]
            wanted[topic, number] = min(max(target, first[number]), last[number])
    return wanted


def _partitions(client: Client, given: argparse.Namespace, before: Offsets) -> dict[str, list[int]]:
    if given.all_topics:
        if not before:
            raise ClientError(f"group {given.group!r} has committed nothing")
        found: dict[str, list[int]] = {}
        for topic, number in before:
            found.setdefault(topic, []).append(number)
        return found
    return {
        name: numbers or [p.partition_index for p in client.topic(name).partitions]
        for name, numbers in given.topics
    }


def _targets(
    client: Client, given: argparse.Namespace, topic: str, numbers: list[int], before: Offsets
) -> dict[int, int]:
    if given.to_earliest:
        return offsets_at(client, topic, numbers, EARLIEST)
    if given.to_latest:
        return offsets_at(client, topic, numbers, LATEST)
    if given.to_datetime is not None:
        return offsets_at(client, topic, numbers, given.to_datetime)
    if given.to_offset is not None:
        return dict.fromkeys(numbers, given.to_offset)
    missing = [number for number in numbers if (topic, number) not in before]
    if missing:
        raise ClientError(f"{topic}/{missing[0]} has no offset that could be shifted")
    return {number: max(0, before[topic, number] + given.shift_by) for number in numbers}


def _commit(client: Client, group: str, offsets: Offsets) -> None:
    row = commit_request(group, offsets)
    for topic in client.ask(ApiKey.OFFSET_COMMIT, row, LAST_BY_NAME).topics:
        for partition in topic.partitions:
            what = f"{topic.name}/{partition.partition_index}"
            check(partition.error_code, _explained(partition.error_code), what)


def _explained(code: int) -> str | None:
    in_use = code == ErrorCode.UNKNOWN_MEMBER_ID
    return "the group has members; stop them first" if in_use else None
