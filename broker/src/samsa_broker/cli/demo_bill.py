"""The bill of the serverless demo: of what its gateway has counted."""

import argparse
from typing import TYPE_CHECKING

from samsa_broker.cost.of_usage import Used, bill_of
from samsa_broker.demo.hops import Priced, bill_so_far, bill_table, records

from .cost import prices_of

if TYPE_CHECKING:
    from samsa_websocket.local_gateway.app import LocalApi

    from .demo_clients import DemoClients


def _used(api: "LocalApi") -> Used:
    assert api.stores is not None
    stats, asked = api.stats, api.stores.meter.total
    return Used(
        stats.invocations,
        stats.gb_s,
        stats.metered,
        api.connection_s(),
        asked.writes,
        asked.reads,
        asked.puts,
        asked.gets,
    )


def so_far(api: "LocalApi", clients: "DemoClients") -> str:
    total = bill_of(_used(api), prices_of(None)).total
    return bill_so_far(total, api.stats.invocations, clients.delivered)


def sum_up(api: "LocalApi", clients: "DemoClients", given: argparse.Namespace) -> str:
    bill = bill_of(_used(api), prices_of(None))
    table = bill_table(bill.name, [Priced(*line) for line in bill.lines])
    done = f"{records(clients.produced)} written, {clients.delivered:,} delivered."
    without = "List prices of us-east-1; storage, logs and the free tier are left out."
    kept = f"They stay in {given.data.absolute()}."
    return f"{table}\n{without}\n\n{done} {kept}"
