"""Records by HTTP are those that transactions committed."""

from uuid import UUID

from unit.http_api.given import Api, Site
from unit.log.given import a_batch
from unit.log.transacting import transactional

from samsa.log.append import Marker
from samsa.ports import End, Partition, Topic

WHERE = Partition(UUID(int=5), 0)
READ = "/topics/orders/partitions/0/records"


async def test_aborted_and_open_transactions_are_left_out(api: Api, site: Site):
    await site.ledger.create_topic(Topic("orders", WHERE.topic_id, 1, 0))
    where, log = WHERE, site.broker.log
    await log.append_once(where, [transactional(0)])
    await log.mark(where, Marker(7, 0, 1, End.ABORT))
    await log.append_once(where, [a_batch(b"plain"), transactional(1, serial=2)])
    await log.mark(where, Marker(7, 0, 2, End.COMMIT))
    await log.append_once(where, [transactional(2, serial=3), a_batch(b"behind it")])
    answer = await api.get(READ)
    found = [(one["offset"], one["value"]["text"]) for one in answer["records"]]
    assert found == [(2, "plain"), (3, "1")]
    assert (answer["end"], answer["next_offset"]) == (5, 5)
    last = await api.get(READ, last=2)
    assert [one["offset"] for one in last["records"]] == [3]
