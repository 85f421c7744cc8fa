"""Attacks on what is new in the wake-ups and in the answers of an empty broker."""

import os
import socket
from contextlib import suppress
from functools import cache
from pathlib import Path
from uuid import UUID

from server.process import Samsa

from samsa.wire.apis import APIS, ApiKey
from samsa.wire.frame import request_frame
from samsa.wire.messages import create_acls, describe_transactions, describe_user_scram_credentials

DATAGRAMS = 5_000
ELEMENTS = 20_000


def forged_wakeups(samsa: Samsa) -> None:
    """Datagrams to the port where processes wake each other, by a sender without the secret."""
    place = ("127.0.0.1", _udp_port(samsa.pid))
    notes = (b"P" + UUID(int=7).bytes + bytes(4), b"G" + b"g" * 8_000, os.urandom(1_000), b"")
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as stranger:
        for n in range(DATAGRAMS):
            stranger.sendto(notes[n % len(notes)], place)


def lists_of_what_is_not_there(samsa: Samsa) -> None:
    """Long lists to APIs that answer each of their elements with an error."""
    for frame in _long_lists():
        with samsa.peer() as peer:
            peer.say(frame)
            # Or it is refused: that many elements are too many.
            with suppress(EOFError, ConnectionError):
                peer.read_frame()


def _udp_port(pid: int) -> int:
    """Of the one datagram socket that the process is bound to."""
    links = [os.readlink(link) for link in Path(f"/proc/{pid}/fd").iterdir()]
    inodes = {link[8:-1] for link in links if link.startswith("socket:[")}
    rows = [line.split() for line in Path(f"/proc/{pid}/net/udp").read_text().splitlines()[1:]]
    (port,) = {int(row[1].partition(":")[2], 16) for row in rows if row[9] in inodes}
    return port


@cache
def _long_lists() -> tuple[bytes, ...]:
    names = [f"{n}" for n in range(ELEMENTS)]
    creation = create_acls.CREATION(resource_name="t", principal="User:x", host="*")
    users = [describe_user_scram_credentials.USER(name=name) for name in names]
    rows = {
        ApiKey.CREATE_ACLS: create_acls.REQUEST(creations=[creation] * ELEMENTS),
        ApiKey.DESCRIBE_TRANSACTIONS: describe_transactions.REQUEST(transactional_ids=names),
        ApiKey.DESCRIBE_USER_SCRAM_CREDENTIALS: describe_user_scram_credentials.REQUEST(
            users=users
        ),
    }
    return tuple(
        request_frame(APIS[key], APIS[key].versions[-1], 1, "attack", row)
        for key, row in rows.items()
    )
