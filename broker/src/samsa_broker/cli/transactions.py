"""samsa transactions: list and describe transactions, abort one."""

import argparse
import time
from typing import Any

from samsa.wire.apis import ApiKey
from samsa.wire.messages import (
    describe_producers,
    describe_transactions,
    init_producer_id,
    list_transactions,
    write_txn_markers,
)

from .client import Client, ClientError, check
from .options import add_bootstrap, add_command

LIST = """
One line for each transactional id: its name, its producer's id, and its state. Ongoing: a
transaction is open. PrepareCommit, PrepareAbort: it is decided, and being finished.
"""
ABORT = """
Abort the ongoing transaction of a transactional id. Its producer is fenced: it gets an error with
its next request. A transaction is aborted by itself when its timeout is over.

With --topic, --partition and --start-offset: abort what hangs in a partition, as
kafka-transactions.sh does. `samsa transactions open TOPIC PARTITION` shows the offsets.
"""
OPEN = """
One line for each producer that has a transaction open in a partition: its id and epoch, and the
offset of its first batch. Readers with read_committed wait at the lowest of these offsets.
"""
EXAMPLES = """
examples:
  samsa transactions list
  samsa transactions list --state Ongoing
  samsa transactions describe billing-1
  samsa transactions open orders 0
  samsa transactions abort billing-1
  samsa transactions abort --topic orders --partition 0 --start-offset 1200

samsa transactions ACTION --help says more about each.
"""
NOT_ENDED = ("Ongoing", "PrepareCommit", "PrepareAbort")
TIMEOUT_MS = 60_000
"""Of the transactional id from then on, until its next producer asks for another."""


def add_to(commands: Any) -> None:
    transactions = add_command(
        commands,
        "transactions",
        brief="list, describe and abort transactions",
        description="Transactions: which are open, since when, and in which partitions.",
        epilog=EXAMPLES,
    )
    actions = transactions.add_subparsers(dest="action", metavar="ACTION", required=True)
    listing = actions.add_parser(
        "list", help="one line per transactional id: name, producer id, state", description=LIST
    )
    listing.add_argument(
        "--state", action="append", default=[], help="only ids in this state; may be repeated"
    )
    listing.set_defaults(run=list_all)
    describe = actions.add_parser(
        "describe",
        help="state, age and partitions of a transactional id",
        description="Show one transactional id: its state, producer, age and partitions.",
    )
    describe.add_argument("id", help="the transactional id")
    describe.set_defaults(run=describe_one)
    opened = actions.add_parser("open", help="transactions open in a partition", description=OPEN)
    opened.add_argument("topic", help="its name")
    opened.add_argument("partition", type=int, help="its number")
    opened.set_defaults(run=show_open)
    abort = actions.add_parser(
        "abort",
        help="abort an ongoing transaction",
        description=ABORT,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    abort.add_argument("id", nargs="?", help="the transactional id")
    abort.add_argument("--topic", help="the topic of the hanging transaction")
    abort.add_argument("--partition", type=int, help="the partition of that topic")
    abort.add_argument("--start-offset", type=int, help="the offset of its first batch there")
    abort.set_defaults(run=abort_one)
    for action in (listing, describe, opened, abort):
        add_bootstrap(action)


def list_all(given: argparse.Namespace) -> int:
    """Asks every node: each lists the ids whose coordinator it is."""
    found = {}
    for client in Client.of(given).all_nodes():
        row = list_transactions.REQUEST(state_filters=given.state)
        answer = client.ask(ApiKey.LIST_TRANSACTIONS, row)
        check(answer.error_code, None, "transactions")
        if answer.unknown_state_filters:
            unknown = ", ".join(answer.unknown_state_filters)
            raise ClientError(f"there is no state {unknown}; one of them is Ongoing")
        found.update({one.transactional_id: one for one in answer.transaction_states})
    for _, one in sorted(found.items()):
        print(f"{one.transactional_id}\t{one.producer_id}\t{one.transaction_state}")
    return 0


def _described(client: Client, transactional_id: str) -> Any:
    row = describe_transactions.REQUEST(transactional_ids=[transactional_id])
    one = client.ask(ApiKey.DESCRIBE_TRANSACTIONS, row).transaction_states[0]
    check(one.error_code, None, f"transactional id {transactional_id!r}")
    return one


def describe_one(given: argparse.Namespace) -> int:
    one = _described(Client.of(given), given.id)
    print(f"state       {one.transaction_state}")
    print(f"producer    {one.producer_id}, epoch {one.producer_epoch}")
    print(f"timeout     {one.transaction_timeout_ms / 1000:g} s")
    if one.transaction_state in NOT_ENDED:
        age_s = max(0.0, time.time() - one.transaction_start_time_ms / 1000)
        print(f"open for    {age_s:.0f} s")
    for topic in one.topics:
        print(f"partitions  {topic.topic}: {', '.join(map(str, topic.partitions))}")
    return 0


def _open_in(client: Client, topic: str, partition: int) -> list[Any]:
    asked = describe_producers.TOPIC(name=topic, partition_indexes=[partition])
    row = describe_producers.REQUEST(topics=[asked])
    found = client.ask(ApiKey.DESCRIBE_PRODUCERS, row).topics[0].partitions[0]
    check(found.error_code, found.error_message, f"{topic}/{partition}")
    opened = (one for one in found.active_producers if one.current_txn_start_offset >= 0)
    return sorted(opened, key=lambda one: one.current_txn_start_offset)


def show_open(given: argparse.Namespace) -> int:
    for one in _open_in(Client.of(given), given.topic, given.partition):
        print(f"{one.current_txn_start_offset}\t{one.producer_id}\t{one.producer_epoch}")
    return 0


def abort_one(given: argparse.Namespace) -> int:
    where = (given.topic, given.partition, given.start_offset)
    if given.id is None and None in where:
        raise ClientError(
            "name a transactional id, or all of --topic, --partition and --start-offset"
        )
    client = Client.of(given)
    if given.id is None:
        return _abort_in_partition(client, *where)
    if _described(client, given.id).transaction_state != "Ongoing":
        raise ClientError(f"transactional id {given.id!r} has no ongoing transaction")
    # A new producer fences the one before it, and what that one has open is aborted.
    row = init_producer_id.REQUEST(transactional_id=given.id, transaction_timeout_ms=TIMEOUT_MS)
    answer = client.ask(ApiKey.INIT_PRODUCER_ID, row)
    check(answer.error_code, None, f"transactional id {given.id!r}")
    print(f"aborted {given.id}")
    return 0


def _abort_in_partition(client: Client, topic: str, partition: int, offset: int) -> int:
    hanging = [
        one for one in _open_in(client, topic, partition) if one.current_txn_start_offset == offset
    ]
    if not hanging:
        raise ClientError(f"no transaction in {topic}/{partition} is open from offset {offset} on")
    marker = write_txn_markers.MARKER(
        producer_id=hanging[0].producer_id,
        producer_epoch=hanging[0].producer_epoch,
        transaction_result=False,
        topics=[write_txn_markers.TOPIC(name=topic, partition_indexes=[partition])],
    )
    row = write_txn_markers.REQUEST(markers=[marker])
    answer = client.ask(ApiKey.WRITE_TXN_MARKERS, row)
    check(answer.markers[0].topics[0].partitions[0].error_code, None, f"{topic}/{partition}")
    print(f"aborted what was open in {topic}/{partition} from offset {offset} on")
    return 0
