"""A process that opens a ledger, tries to be alone with it, appends, and says what is stored.

Each line is `offset word`, written after the append was acknowledged. It goes on until it is
killed.
"""

import asyncio
import sys
from contextlib import suppress
from itertools import count
from uuid import UUID

from samsa.local.folder import FolderObjects
from samsa.local.journal import SqliteJournal
from samsa.local.sqlite import SqliteLedger
from samsa.ports import Extent, Partition, Topic, Unavailable

PARTITION = Partition(UUID(int=1), 0)
TOPIC = Topic("letters", PARTITION.topic_id, 1, 0)
WORD = 16


async def main(folder: str, name: str) -> None:
    ledger = SqliteLedger(f"{folder}/ledger.db")
    objects = FolderObjects(f"{folder}/objects")
    journal = SqliteJournal(ledger, objects.root, name)
    journal.stay_alone()
    while True:  # others append without a pause, and so the ledger may be busy for long
        with suppress(Unavailable):
            await ledger.create_topic(TOPIC)
            break
        await asyncio.sleep(0.01)
    for number in count():
        word = f"{name}.{number}".ljust(WORD).encode()
        with suppress(Unavailable):
            guess = await journal.next_offset(PARTITION)
            done = await journal.commit(
                PARTITION, Extent(guess, 1, WORD, 7, 8, "", (), 1), [word], ()
            )
            print(done.base, word.decode(), flush=True)
        await asyncio.sleep(0)


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], sys.argv[2]))
