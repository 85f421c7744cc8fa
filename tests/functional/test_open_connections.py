"""The item of a connection stays small enough to be written, whatever its client watches."""

from uuid import uuid4

from samsa.aws.dynamodb import DynamoLedger
from samsa.ports import Partition
from samsa.ports.bounds import MOST_WATCHED
from samsa_websocket.pushes.open_connections import OpenConnection, OpenConnections


async def test_a_connection_that_watches_more_than_an_item_holds_is_not_refused(
    local_dynamodb: str,
):
    ledger = DynamoLedger(f"samsa-{uuid4()}", local_dynamodb)
    await ledger.create_table()
    connections = OpenConnections(ledger.table)
    await connections.open("one", OpenConnection("127.0.0.1", 9092, "", "arn"), 0)
    for _ in range(4):
        topic = uuid4()
        watched = [Partition(topic, number) for number in range(MOST_WATCHED - 1)]
        await connections.watches("one", watched)
    kept = await connections.close_one("one")
    assert len(kept) == 2 * (MOST_WATCHED - 1)
    await ledger.close()


async def test_a_connection_keeps_the_principal_that_signed_its_handshake(local_dynamodb: str):
    ledger = DynamoLedger(f"samsa-{uuid4()}", local_dynamodb)
    await ledger.create_table()
    connections = OpenConnections(ledger.table)
    for name, principal in (("signed", "arn:aws:iam::1:user/grete"), ("unsigned", "")):
        connection = OpenConnection("127.0.0.1", 9092, "", principal)
        await connections.open(name, connection, 0)
        assert await connections.look_up(name) == connection
    await ledger.close()
