"""The view: what is in force, and when a change of another process is."""

import asyncio
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from faults.inside import TurnedClock
from unit.handlers.transacting import Flaky

from samsa.access.contents import ChangePlan, Contents
from samsa.access.entries import (
    CredentialKey,
    QuotaKey,
    acl_entry,
    credential_entry,
    quota_entry,
)
from samsa.access.rules import SecurityRules
from samsa.access.view import LOOK_EVERY_MS, TRIES, SecurityView
from samsa.local.sqlite_groups import SqliteGroups
from samsa.ports import SecurityChange, SecurityEntry, SecurityKind, Unavailable
from samsa.security.acls import Acl
from samsa.security.kinds import Operation, PatternType, Permission, ResourceType
from samsa.security.principals import Principal
from samsa.security.quotas import QuotaEntity
from samsa.security.scram import ScramCredential, ScramMechanism

ALICE, BOSS = Principal("User", "alice"), Principal("User", "boss")
HOST = "10.0.0.1"
READ, TOPIC = Operation.READ, ResourceType.TOPIC
SHA_256 = ScramMechanism.SCRAM_SHA_256
CREDENTIAL = ScramCredential(b"salt", b"stored", b"server", 4096, SHA_256)
PRODUCES = QuotaKey(QuotaEntity.of({"user": "alice", "client-id": None}), "producer_byte_rate")


def acl(name: str, principal: str = "User:alice", operation: Operation = READ) -> Acl:
    return Acl(
        TOPIC, PatternType.LITERAL, name, principal, "*", operation, Permission.ALLOW
    )  # fmt: skip


class Site:
    """One store, and processes that look at it."""

    def __init__(self, folder: Path) -> None:
        self.store = SqliteGroups(str(folder / "ledger.db"))
        self.clock = TurnedClock()
        self.words = count()

    def process(self, store: Any = None, **rules: Any) -> SecurityView:
        given = SecurityRules(has_acls=True, **{"super_users": frozenset({"User:boss"})} | rules)
        words = self.words
        return SecurityView(store or self.store, self.clock, lambda: f"w{next(words)}", given)

    async def put(self, *entries: SecurityEntry) -> None:
        version = await self.store.security_version()
        change = SecurityChange(f"w{next(self.words)}", entries)
        assert await self.store.change_security(change, version)


@pytest.fixture
def site(tmp_path: Path) -> Site:
    return Site(tmp_path)


def adding(*entries: SecurityEntry) -> Any:
    async def plan(contents: Contents) -> ChangePlan[Contents]:
        return ChangePlan(contents, list(entries))

    return plan


async def test_what_the_store_has_is_in_force_after_the_first_refresh(site: Site):
    await site.put(
        acl_entry(acl("orders")), credential_entry("alice", CREDENTIAL), quota_entry(PRODUCES, 7.0)
    )
    view = site.process()
    await view.refresh()
    access = view.access_for(ALICE, HOST)
    assert access.may(READ, TOPIC, "orders")
    assert not access.may(READ, TOPIC, "parcels")
    assert view.credential(SHA_256, "alice") == CREDENTIAL
    assert view.credential(ScramMechanism.SCRAM_SHA_512, "alice") is None
    assert view.quotas == {PRODUCES.entity: {"producer_byte_rate": 7.0}}


async def test_a_change_of_another_process_is_in_force_at_the_next_look(site: Site):
    one, other = site.process(), site.process()
    await other.refresh()
    access = other.access_for(ALICE, HOST)
    await one.change(adding(acl_entry(acl("orders"))))
    assert one.access_for(ALICE, HOST).may(READ, TOPIC, "orders")
    assert not access.may(READ, TOPIC, "orders")
    site.clock.turn(LOOK_EVERY_MS)
    await other.refresh()
    assert access.may(READ, TOPIC, "orders")


async def test_a_look_costs_one_small_read_while_nothing_changes(site: Site):
    store = Flaky(site.store)
    view = site.process(store)
    for _ in range(3):
        await asyncio.gather(view.refresh(), view.refresh())
        site.clock.turn(LOOK_EVERY_MS)
    assert store.calls == ["security", "security_version", "security_version"]


async def test_the_store_is_not_asked_twice_within_a_second(site: Site):
    store = Flaky(site.store)
    view = site.process(store)
    await view.refresh()
    site.clock.turn(LOOK_EVERY_MS - 1)
    await view.refresh()
    assert store.calls == ["security"]


async def test_a_clock_that_is_set_back_delays_a_look_by_at_most_a_second(site: Site):
    view = site.process()
    await view.refresh()
    await site.put(acl_entry(acl("orders")))
    site.clock.turn(-3_600_000)
    await view.refresh()
    assert view.access_for(ALICE, HOST).may(READ, TOPIC, "orders")


async def test_while_the_store_is_down_what_is_known_stays_in_force(site: Site):
    await site.put(acl_entry(acl("orders")), credential_entry("alice", CREDENTIAL))
    store = Flaky(site.store)
    view = site.process(store)
    await view.refresh()
    store.down = {"security", "security_version"}
    site.clock.turn(LOOK_EVERY_MS)
    await view.refresh()
    assert view.access_for(ALICE, HOST).may(READ, TOPIC, "orders")
    assert view.credential(SHA_256, "alice") == CREDENTIAL


@pytest.mark.parametrize("allow_if_no_acl", [False, True])
async def test_before_the_store_has_answered_only_super_users_may_do_anything(
    site: Site, allow_if_no_acl: bool
):
    store = Flaky(site.store)
    store.down = {"security", "security_version"}
    view = site.process(store, allow_if_no_acl=allow_if_no_acl)
    await view.refresh()
    assert not view.is_known
    assert not view.access_for(ALICE, HOST).may(READ, TOPIC, "orders")
    assert view.access_for(BOSS, HOST).may(READ, TOPIC, "orders")
    assert view.credential(SHA_256, "alice") is None
    store.down = set()
    site.clock.turn(LOOK_EVERY_MS)
    await view.refresh()
    assert view.is_known
    assert view.access_for(ALICE, HOST).may(READ, TOPIC, "orders") == allow_if_no_acl


UNREADABLE = [
    SecurityEntry(SecurityKind.ACL, "not json"),
    SecurityEntry(SecurityKind.ACL, '[2,3,"orders","User:alice","*",3]'),
    SecurityEntry(SecurityKind.ACL, '[2,3,"orders","User:alice","*",99,3]'),
    SecurityEntry(SecurityKind.ACL, "[" * 8_000),
    SecurityEntry(SecurityKind.CREDENTIAL, '["alice","SCRAM-SHA-1"]', "{}"),
    SecurityEntry(SecurityKind.CREDENTIAL, '["alice","SCRAM-SHA-256"]', "{}"),
    SecurityEntry(SecurityKind.QUOTA, '[[["user","alice"]],"producer_byte_rate"]', "NaN"),
    SecurityEntry(SecurityKind.QUOTA, '[[["user","alice"]],"made_up"]', "1"),
    SecurityEntry(SecurityKind.QUOTA, "7", "1"),
]


@pytest.mark.parametrize("entry", UNREADABLE, ids=lambda entry: entry.name[:20])
async def test_an_entry_that_cannot_be_read_leaves_what_is_known_in_force(
    site: Site, entry: SecurityEntry
):
    view, newcomer = site.process(), site.process(allow_if_no_acl=True)
    await site.put(acl_entry(acl("orders")))
    await view.refresh()
    await site.put(entry, acl_entry(acl("parcels")))
    site.clock.turn(LOOK_EVERY_MS)
    for one in (view, newcomer):
        await one.refresh()
    access = view.access_for(ALICE, HOST)
    assert [access.may(READ, TOPIC, name) for name in ("orders", "parcels")] == [True, False]
    assert not newcomer.access_for(ALICE, HOST).may(READ, TOPIC, "orders")
    with pytest.raises(Unavailable):
        await newcomer.current()


async def test_a_kind_of_a_newer_version_leaves_what_is_known_in_force(site: Site):
    view = site.process()
    await site.put(acl_entry(acl("orders")))
    await view.refresh()
    site.store._db.execute("INSERT INTO security VALUES ('Z', 'new', '')")
    await site.put(acl_entry(acl("parcels")))
    site.clock.turn(LOOK_EVERY_MS)
    await view.refresh()
    access = view.access_for(ALICE, HOST)
    assert [access.may(READ, TOPIC, name) for name in ("orders", "parcels")] == [True, False]


async def test_of_two_admins_neither_loses_a_change(site: Site):
    views = [site.process() for _ in range(5)]
    entries = [acl_entry(acl(f"topic{number}")) for number in range(25)]
    await asyncio.gather(
        *(views[number % 5].change(adding(entry)) for number, entry in enumerate(entries))
    )
    assert sorted((await site.store.security()).entries) == sorted(entries)
    assert await site.store.security_version() == 25


async def test_a_change_is_planned_again_on_what_another_admin_left(site: Site):
    one, other = site.process(), site.process()
    seen: list[int] = []

    async def plan(contents: Contents) -> ChangePlan[str]:
        seen.append(len(contents.acls))
        if len(seen) == 1:
            await other.change(adding(acl_entry(acl("parcels"))))
        return ChangePlan("done", [acl_entry(acl("orders"))])

    assert await one.change(plan) == "done"
    assert seen == [0, 1]
    assert {each.name for each in one.contents.acls} == {"orders", "parcels"}


class Meddling(Flaky):
    """Another admin changes something before some of the changes that are numbered here."""

    def __init__(self, store: Any, other: SecurityView, before: set[int]) -> None:
        super().__init__(store)
        self._other = other
        self._before = before

    def __getattr__(self, name: str) -> Any:
        found = super().__getattr__(name)
        if name != "change_security":
            return found

        async def change(*args: Any) -> bool:
            number = self.calls.count(name)
            if number in self._before:
                await self._other.change(adding(acl_entry(acl(f"meddled{number}"))))
            return bool(await found(*args))

        return change


async def test_a_long_change_is_stored_in_parts_even_if_others_come_between(site: Site):
    store = Meddling(site.store, site.process(), before={0, 2, 4})
    view = site.process(store)
    entries = [acl_entry(acl(f"topic{number}")) for number in range(250)]
    seen: list[int] = []

    async def plan(contents: Contents) -> ChangePlan[None]:
        seen.append(len(contents.acls))
        return ChangePlan(None, entries)

    await view.change(plan)
    assert seen == [0, 1], "nothing was stored yet, so it was planned again"
    # Three parts, of which each was refused once.
    assert store.calls.count("change_security") == 6
    names = {f"topic{number}" for number in range(250)} | {"meddled0", "meddled2", "meddled4"}
    assert {each.name for each in view.authorizer.acls} == names
    assert {each.name for each in (await site.process().current()).acls} == names


async def test_a_change_that_is_always_too_late_is_given_up(site: Site):
    store = Meddling(site.store, site.process(), before=set(range(100)))
    with pytest.raises(Unavailable):
        await site.process(store).change(adding(acl_entry(acl("orders"))))
    assert store.calls.count("change_security") == TRIES


async def test_a_change_of_other_things_leaves_the_authorizer_as_it_is(site: Site):
    view = site.process()
    await view.change(adding(acl_entry(acl("orders"))))
    before = view.authorizer
    await view.change(adding(credential_entry("alice", CREDENTIAL)))
    await site.put(quota_entry(PRODUCES, 7.0))
    await view.current()
    assert view.authorizer is before
    await view.change(adding(acl_entry(acl("parcels"))))
    assert view.authorizer is not before


async def test_a_change_whose_answer_is_lost_is_seen_at_the_next_look(site: Site):
    class Forgetful(Flaky):
        def __getattr__(self, name: str) -> Any:
            found = super().__getattr__(name)
            if name != "change_security":
                return found

            async def change(*args: Any) -> bool:
                await found(*args)
                raise Unavailable("the answer was lost")

            return change

    view = site.process(Forgetful(site.store))
    with pytest.raises(Unavailable):
        await view.change(adding(acl_entry(acl("orders"))))
    site.clock.turn(LOOK_EVERY_MS)
    await view.refresh()
    assert view.access_for(ALICE, HOST).may(READ, TOPIC, "orders")


async def test_entries_come_back_from_the_store_as_they_were(site: Site):
    name = 'ü"\\,\x00日本 *'
    put = [acl(name, f"User:{name}"), acl("*", "User:*", Operation.ALL)]
    key = CredentialKey(name, ScramMechanism.SCRAM_SHA_512)
    credential = CREDENTIAL._replace(mechanism=key.mechanism, salt=bytes(range(256)))
    await site.process().change(
        adding(
            *map(acl_entry, put), credential_entry(name, credential), quota_entry(PRODUCES, 0.5e10)
        )
    )
    contents = await site.process().current()
    assert contents.acls == set(put)
    assert contents.credentials == {key: credential}
    assert contents.quota_values == {PRODUCES: 0.5e10}
