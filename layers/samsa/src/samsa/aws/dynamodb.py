"""The DynamoDB ledger: one table, billed on demand; every read is strongly consistent.

It is also the store of heads that `HeadJournal` commits to. An append is two writes: the commit,
and later its extent in the index.
"""

from samsa.aws.client import DynamoClient, Patience, dynamodb_client
from samsa.aws.heads import HeadCalls
from samsa.aws.new_table import create_table
from samsa.aws.nodes import NodeCalls
from samsa.aws.producers import ProducerCalls
from samsa.aws.swaps import SwapCalls
from samsa.aws.table import Table
from samsa.aws.topic_changes import TopicChanges

CONNECTIONS = 32


class DynamoLedger(HeadCalls, SwapCalls, ProducerCalls, TopicChanges, NodeCalls):
    def __init__(
        self,
        table: str,
        endpoint: str | None = None,
        region: str | None = None,
        client: DynamoClient | None = None,
        patience: Patience | None = None,
    ) -> None:
        self._owns_client = client is None
        self._client = client or dynamodb_client(
            endpoint, region, CONNECTIONS, patience or Patience()
        )
        super().__init__(Table(table, self._client))

    @property
    def requests(self) -> dict[str, int]:
        """Requests to DynamoDB by operation, without the client's retries."""
        return self.table.requests

    async def create_table(self) -> None:
        """Create the table unless it exists, and wait until it can be used."""
        await create_table(self._client, self.table.name)

    async def close(self) -> None:
        if self._owns_client:
            await self._client.close()
