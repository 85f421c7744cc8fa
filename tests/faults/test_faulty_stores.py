"""A cluster whose DynamoDB and S3 fail: slow, refusing, forgetful, silent, late.

SAMSA_FAULT_SEED replays a plan, SAMSA_FAULT_SECONDS makes the storm longer.
"""

import os
import time

from faults import promises
from faults.clients import PARTITIONS, at_work
from faults.cluster import STORM, Cluster
from server.talk import create
from support.waiting import eventually

STORM_S = float(os.environ.get("SAMSA_FAULT_SECONDS", "12"))
LONGEST_STORM_S = STORM_S + 30


def every_fault_was_met(cluster: Cluster) -> bool:
    return all(store.met.keys() >= STORM.keys() for store in cluster.stores)


def test_a_storm_over_both_stores_breaks_no_promise(cluster: Cluster):
    with cluster.peer() as peer:
        create(peer, "storm", PARTITIONS)
    with at_work(cluster, "storm") as clients, cluster.storm():
        time.sleep(STORM_S)
        assert eventually(lambda: every_fault_was_met(cluster), LONGEST_STORM_S - STORM_S)
    promises.hold(cluster, "storm", clients)
    assert all(store.faulty > 0.2 for store in cluster.stores)
