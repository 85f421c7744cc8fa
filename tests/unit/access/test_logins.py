"""What logins are checked against, in all processes of a cluster."""

from itertools import count
from pathlib import Path

import pytest
from faults.inside import TurnedClock
from unit.access.admins import BOSS, Office
from unit.handlers.transacting import Flaky

from samsa.access.contents import ChangePlan, Contents
from samsa.access.entries import SECRET_NAME, credential_entry, secret_entry
from samsa.access.logins import StoredLogins, store_secret
from samsa.access.view import SecurityView
from samsa.local.sqlite_groups import SqliteGroups
from samsa.ports import SecurityKind, Unavailable
from samsa.security.scram import ScramCredential, ScramMechanism
from samsa.wire.apis import ApiKey
from samsa.wire.messages import describe_user_scram_credentials as describe

SHA_512 = ScramMechanism.SCRAM_SHA_512
WORDS = count()


@pytest.fixture
def store(tmp_path: Path) -> SqliteGroups:
    return SqliteGroups(str(tmp_path / "ledger.db"))


def process(store: object) -> SecurityView:
    return SecurityView(store, TurnedClock(), lambda: f"w{next(WORDS)}")


async def test_all_processes_show_the_same_salt_of_a_user_that_does_not_exist(store: SqliteGroups):
    shown = []
    for own in (b"one", b"two", b"three"):
        view = process(store)
        await store_secret(view, own)
        shown.append(StoredLogins(view, own).stand_in_of("mallory", "SCRAM-SHA-512"))
    assert shown[0] == shown[1] == shown[2]
    assert [entry.name for entry in (await store.security()).entries] == [SECRET_NAME]


async def test_a_stand_in_has_the_shape_of_stored_credentials(store: SqliteGroups):
    view = process(store)
    held = ScramCredential.from_password("pencil", b"\0" * 31, 5000, SHA_512)

    async def plan(_: Contents) -> ChangePlan[None]:
        return ChangePlan(None, [credential_entry("alice", held)])

    await view.change(plan)
    logins = StoredLogins(view, b"own")
    made = logins.stand_in_of("mallory", "SCRAM-SHA-512")
    assert (len(made.salt), made.iterations) == (31, 5000)
    assert logins.credential_of("alice", SHA_512) == held
    assert logins.credential_of("mallory", SHA_512) is None


async def test_a_process_that_may_not_write_makes_up_salts_of_its_own(store: SqliteGroups):
    class ReadOnly(Flaky):
        async def change_security(self, *_: object) -> bool:
            raise Unavailable("read-only")

    view = process(ReadOnly(store))
    await store_secret(view, b"secret")
    assert view.contents.stand_in_secret is None
    logins = StoredLogins(view, b"own")
    made = logins.stand_in_of("mallory", "SCRAM-SHA-512")
    assert made == logins.stand_in_of("mallory", "SCRAM-SHA-512")


async def test_the_secret_is_no_user(tmp_path: Path):
    office = Office(tmp_path)
    await store_secret(office.broker.stored_access, b"secret")
    row = describe.REQUEST(users=None)
    answer = await office.ask(ApiKey.DESCRIBE_USER_SCRAM_CREDENTIALS, row, BOSS)
    assert answer.results == []
    assert office.broker.stored_access.contents.credentials == {}


def test_older_versions_read_the_secret_as_a_credential():
    entry = secret_entry(b"secret")
    assert (entry.kind, entry.name) == (SecurityKind.CREDENTIAL, SECRET_NAME)
    assert Contents().after(1, [entry]).stand_in_secret == b"secret"
