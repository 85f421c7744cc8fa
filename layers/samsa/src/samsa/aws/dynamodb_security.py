"""Entries of access control in DynamoDB, in the ledger's table.

| pk       | sk             | what                                                       |
|----------|----------------|------------------------------------------------------------|
| SECURITY | VERSION        | counts the changes, and has the id of the last             |
| SECURITY | A#, Q#, S#name | an entry: an ACL, a quota, a SCRAM credential of one user  |

A change is one transaction: the version moves if it is what the caller saw, and the entries move
with it. All of them are read by one query; an entry takes a few hundred bytes.
"""

from samsa.aws.calls import counted
from samsa.aws.errors import ConditionFailed
from samsa.aws.group_items import short, version_is
from samsa.aws.group_writes import GroupWrites
from samsa.aws.items import Item, key, number, string
from samsa.ports import SecurityChange, SecurityEntry, SecurityKind, SecurityState
from samsa.ports.bounds import raise_if_large_security

PK = "SECURITY"
VERSION_KEY = key(PK, "VERSION")
FIRST, LAST = "A#", "S$"
"""What is between them are the entries of all kinds, and not the version."""


def entry_key(entry: SecurityEntry) -> Item:
    return key(PK, f"{entry.kind}#{short(entry.name)}")


def entry_item(entry: SecurityEntry) -> Item:
    item = {**entry_key(entry), "name": string(entry.name)}
    return {**item, "value": string(entry.value)} if entry.value else item


def read_entry(item: Item) -> SecurityEntry:
    kind = SecurityKind(item["sk"]["S"].partition("#")[0])
    return SecurityEntry(kind, item["name"]["S"], item["value"]["S"] if "value" in item else "")


def read_version(item: Item | None) -> tuple[int, str]:
    return (int(item["version"]["N"]), item["change"]["S"]) if item else (0, "")


class SecurityCalls(GroupWrites):
    async def _version(self) -> tuple[int, str]:
        return read_version(await self.table.get(VERSION_KEY))

    @counted
    async def security_version(self) -> int:
        return (await self._version())[0]

    @counted
    async def security(self) -> SecurityState:
        version, _ = await self._version()  # before the entries: they may be newer, never older
        items = await self.table.items(PK, FIRST, LAST) if version else []
        return SecurityState(version, [read_entry(item) for item in items])

    @counted
    async def change_security(self, change: SecurityChange, after: int) -> bool:
        raise_if_large_security(change)
        try:
            await self.table.transact(self._writes(change, after))
        except ConditionFailed:
            return await self._version() == (after + 1, change.id)
        return True

    def _writes(self, change: SecurityChange, after: int) -> list[Item]:
        version = {**VERSION_KEY, "version": number(after + 1), "change": string(change.id)}
        return [
            self._write("Put", version_is(after), Item=version),
            *(self._write("Put", Item=entry_item(entry)) for entry in change.put),
            *(self._write("Delete", Key=entry_key(entry)) for entry in change.removed),
        ]
