"""Rendezvous hashing: which node each of 4,096 slots belongs to.

Every node has a score for every slot. A slot belongs to the node with the highest score. So
processes that know the same nodes choose the same owners, and when a node comes or goes, only its
own slots change owner. Scores depend on the node's id alone: a process that restarts with the same
id has the same slots as before.

Partitions and groups are mapped to slots, not hashed against every node: so the work per request
does not grow with the number of nodes.
"""

import struct
from collections.abc import Iterable
from hashlib import blake2b, shake_256
from uuid import UUID

SLOTS = 4_096
_SCORES = struct.Struct(f">{SLOTS}Q")


def ring_of(node_ids: Iterable[int]) -> list[int]:
    """The node of each slot. There is at least one node."""
    first, *others = sorted(node_ids)
    owners = [first] * SLOTS
    if not others:
        return owners
    best = list(_scores(first))
    for node_id in others:
        for slot, score in enumerate(_scores(node_id)):
            if score > best[slot]:
                best[slot], owners[slot] = score, node_id
    return owners


def _scores(node_id: int) -> tuple[int, ...]:
    return _SCORES.unpack(shake_256(b"samsa node %d" % node_id).digest(_SCORES.size))


def partition_slot(topic_id: UUID, number: int) -> int:
    """Partitions of one topic have consecutive slots. The topic id decides the first slot."""
    return (topic_id.int + number) % SLOTS


def key_slot(key: str) -> int:
    digest = blake2b(key.encode(errors="surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "big") % SLOTS
