"""samsa groups: list and describe consumer groups, reset their offsets, delete them."""

import argparse
from typing import Any

from samsa.wire.apis import ApiKey
from samsa.wire.messages import delete_groups, list_groups

from . import group_lag, group_reset
from .client import Client, check
from .options import add_bootstrap, add_command

DESCRIBE = """
One line for each partition that the group has committed or is assigned: the offset that it goes on
from, the end of the partition, how far behind it is (its lag), and which member reads it.
"""
RESET = """
Set the offsets from which a group goes on. The group must have no members. Without --execute this
only shows what would be done.
"""
GROUPS_EXAMPLES = """
examples:
  samsa groups list
  samsa groups describe billing
  samsa groups reset-offsets billing --topic orders --to-earliest     shows; --execute does it
  samsa groups delete billing

samsa groups ACTION --help says more about each.
"""
EXAMPLES = """
examples:
  samsa groups reset-offsets billing --topic orders --to-earliest
  samsa groups reset-offsets billing --topic orders:0,2 --to-offset 1200 --execute
  samsa groups reset-offsets billing --all-topics --to-datetime 2026-01-31T12:00:00 --execute
  samsa groups reset-offsets billing --all-topics --shift-by -10 --execute
"""


def add_to(commands: Any) -> None:
    groups = add_command(
        commands,
        "groups",
        brief="list, describe, reset and delete consumer groups",
        description="Consumer groups: who reads what, how far they have come, and from where they "
        "go on.",
        epilog=GROUPS_EXAMPLES,
    )
    actions = groups.add_subparsers(dest="action", metavar="ACTION", required=True)
    listing = actions.add_parser(
        "list",
        help="one line per group: name, state, protocol",
        description="One line per group: its name, its state, its protocol (classic, consumer).",
    )
    listing.set_defaults(run=list_all)
    describe = actions.add_parser(
        "describe", help="a group's members, offsets and lag", description=DESCRIBE
    )
    describe.add_argument("group", help="its name")
    describe.set_defaults(run=group_lag.describe_one)
    reset = add_command(
        actions,
        "reset-offsets",
        brief="make a group go on from elsewhere",
        description=RESET,
        epilog=EXAMPLES,
    )
    group_reset.add_arguments(reset)
    reset.set_defaults(run=group_reset.reset_offsets)
    delete = actions.add_parser(
        "delete",
        help="delete groups without members, and their offsets",
        description="Delete groups and the offsets that they have committed. A group with members "
        "is refused: stop its consumers first.",
    )
    delete.add_argument("group", nargs="+", help="one or more names")
    delete.set_defaults(run=delete_some)
    for action in (listing, describe, reset, delete):
        add_bootstrap(action)


def list_all(given: argparse.Namespace) -> int:
    """Asks every node: each lists the groups whose coordinator it is."""
    found = {}
    for client in Client.of(given).all_nodes():
        answer = client.ask(ApiKey.LIST_GROUPS, list_groups.REQUEST())
        check(answer.error_code, None, "groups")
        found.update({group.group_id: group for group in answer.groups})
    for _, group in sorted(found.items()):
        print(f"{group.group_id}\t{group.group_state}\t{group.group_type}")
    return 0


def delete_some(given: argparse.Namespace) -> int:
    row = delete_groups.REQUEST(groups_names=given.group)
    for result in Client.of(given).ask(ApiKey.DELETE_GROUPS, row).results:
        check(result.error_code, None, f"group {result.group_id!r}")
        print(f"deleted {result.group_id}")
    return 0
