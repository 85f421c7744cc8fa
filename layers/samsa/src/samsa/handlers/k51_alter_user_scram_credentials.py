"""AlterUserScramCredentials (key 51).

Behaviour: sets and deletes SCRAM credentials; a user may appear once in a request, and has its own
result. The client salts the password, so that it is not sent; the store keeps what RFC 5802 calls
the stored key and the server key. Iterations are those of Kafka: 4,096 to 16,384. Needs ALTER on
the cluster. More credentials than `--max-credentials` are refused with POLICY_VIOLATION.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from samsa.access.admin import (
    TIMED_OUT,
    raise_if_too_long,
    raise_if_too_many,
    raise_unless_may_cluster,
    tell,
)
from samsa.access.contents import ChangePlan, Contents
from samsa.access.entries import CredentialKey, credential_entry
from samsa.broker.broker import Broker, Context, handles
from samsa.ports import SecurityEntry, Unavailable
from samsa.security.kinds import Operation
from samsa.security.scram import (
    FEWEST_ITERATIONS,
    ScramCredential,
    ScramMechanism,
    problem_with_credential,
)
from samsa.topics.configs import Refused
from samsa.wire.apis import ApiKey
from samsa.wire.errors import ErrorCode
from samsa.wire.messages import alter_user_scram_credentials as wire

TWICE = "A user credential cannot be altered twice in the same request"
EMPTY = "The salt and the salted password must not be empty"
UNKNOWN = "Attempt to delete a user credential that does not exist"


@handles(ApiKey.ALTER_USER_SCRAM_CREDENTIALS)
async def alter_user_scram_credentials(
    request: wire.AlterUserScramCredentialsRequest, context: Context, broker: Broker
) -> wire.AlterUserScramCredentialsResponse:
    try:
        raise_unless_may_cluster(context, Operation.ALTER)
        return wire.RESPONSE(results=await _alter(request, context, broker))
    except Refused as refused:
        why = refused
    except Unavailable:
        why = Refused(ErrorCode.REQUEST_TIMED_OUT, TIMED_OUT)
    users = {row.name for row in request.deletions} | {row.name for row in request.upsertions}
    return wire.RESPONSE(results=[_result(user, why) for user in sorted(users)])


async def _alter(
    request: wire.AlterUserScramCredentialsRequest, context: Context, broker: Broker
) -> list[wire.AlterUserScramCredentialsResult]:
    view = broker.stored_access

    async def plan(contents: Contents) -> ChangePlan[dict[str, Refused | None]]:
        draft = CredentialChanges(contents, broker.rules.max_credentials)
        async for deletion in broker.work.pace(request.deletions):
            draft.add(deletion.name, partial(draft.delete, deletion))
        async for upsertion in broker.work.pace(request.upsertions):
            draft.add(upsertion.name, partial(draft.put, upsertion))
        return ChangePlan(draft.results, *draft.entries())

    results = await view.change(plan)
    for user, why in results.items():
        if why is None:
            tell(view, context, "alter credential", user)
    return [_result(user, why) for user, why in results.items()]


class CredentialChanges:
    """What one request makes of the present credentials."""

    def __init__(self, contents: Contents, most: int) -> None:
        self.results: dict[str, Refused | None] = {}
        self._contents = contents
        self._most = most
        self._put: dict[str, SecurityEntry] = {}
        self._removed: dict[str, SecurityEntry] = {}
        self._total = len(contents.credentials)

    def add(self, user: str, change: Callable[[], None]) -> None:
        if user not in self.results:
            try:
                change()
                self.results[user] = None
            except Refused as refused:
                self.results[user] = refused
        elif self.results[user] is None:  # Kafka keeps the first problem of a user
            self.results[user] = Refused(ErrorCode.DUPLICATE_RESOURCE, TWICE)
            self._put.pop(user, None)
            self._removed.pop(user, None)

    def delete(self, row: wire.ScramCredentialDeletion) -> None:
        """Raises Refused."""
        mechanism = ScramMechanism(row.mechanism)
        _check(row.name, mechanism, FEWEST_ITERATIONS)
        key = CredentialKey(row.name, mechanism)
        if key not in self._contents.credentials:
            raise Refused(ErrorCode.RESOURCE_NOT_FOUND, UNKNOWN)
        self._removed[row.name] = key.entry
        self._total -= 1

    def put(self, row: wire.ScramCredentialUpsertion) -> None:
        """Raises Refused."""
        mechanism = ScramMechanism(row.mechanism)
        _check(row.name, mechanism, row.iterations)
        salted, salt = bytes(row.salted_password), bytes(row.salt)
        if not salted or not salt:
            raise Refused(ErrorCode.UNACCEPTABLE_CREDENTIAL, EMPTY)
        credential = ScramCredential.from_salted_password(salted, salt, row.iterations, mechanism)
        entry = credential_entry(row.name, credential)
        raise_if_too_long(entry)
        if CredentialKey(row.name, mechanism) not in self._contents.credentials:
            raise_if_too_many(self._total + 1, self._most, "SCRAM credentials")
            self._total += 1
        self._put[row.name] = entry

    def entries(self) -> tuple[list[SecurityEntry], list[SecurityEntry]]:
        return list(self._put.values()), list(self._removed.values())


def _check(user: str, mechanism: ScramMechanism, iterations: int) -> None:
    """Raises Refused."""
    problem = problem_with_credential(user, mechanism, iterations)
    if problem is not None:
        name, message = problem
        raise Refused(ErrorCode[name], message)


def _result(user: str, why: Refused | None) -> wire.AlterUserScramCredentialsResult:
    if why is None:
        return wire.RESULT(user=user, error_message=None)
    return wire.RESULT(user=user, error_code=why.code, error_message=why.message)
