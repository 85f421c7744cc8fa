"""ACLs, credentials and quotas as entries of the store, and back.

An entry that cannot be read is an error, not a gap: it may be one that denies something. So all of
what was read is refused, and what was known before stays in force.
"""

from __future__ import annotations

import json
from base64 import b64decode, b64encode
from typing import TYPE_CHECKING, Any, NamedTuple

from samsa.ports import SecurityEntry, SecurityKind
from samsa.security.acls import Acl
from samsa.security.kinds import Operation, PatternType, Permission, ResourceType
from samsa.security.quotas import QuotaEntity, problem_with_entity, problem_with_quota

if TYPE_CHECKING:
    from samsa.security.scram import ScramCredential, ScramMechanism


SECRET_NAME = '["","SCRAM-SHA-512"]'  # noqa: S105  # the name of an entry


class CredentialKey(NamedTuple):
    user: str
    mechanism: ScramMechanism

    @classmethod
    def of(cls, entry: SecurityEntry) -> CredentialKey:
        from samsa.security.scram import ScramMechanism

        user, name = json.loads(entry.name)
        mechanism = ScramMechanism.of(name)
        if mechanism is ScramMechanism.UNKNOWN:
            raise ValueError(f"no mechanism {name!r}")
        return cls(user, mechanism)

    @property
    def entry(self) -> SecurityEntry:
        """Without a value."""
        return SecurityEntry(SecurityKind.CREDENTIAL, _text([self.user, self.mechanism.sasl_name]))


class QuotaKey(NamedTuple):
    entity: QuotaEntity
    key: str
    """Such as producer_byte_rate."""

    @classmethod
    def of(cls, entry: SecurityEntry) -> QuotaKey:
        parts, key = json.loads(entry.name)
        return cls(QuotaEntity(tuple((kind, name) for kind, name in parts)), key)

    @property
    def entry(self) -> SecurityEntry:
        """Without a value."""
        return SecurityEntry(SecurityKind.QUOTA, _text([self.entity.parts, self.key]))


def acl_entry(acl: Acl) -> SecurityEntry:
    return SecurityEntry(SecurityKind.ACL, _text(list(acl)))


def read_acl(entry: SecurityEntry) -> Acl:
    resource, pattern, name, principal, host, operation, permission = json.loads(entry.name)
    acl = Acl(
        ResourceType(resource),
        PatternType(pattern),
        name,
        principal,
        host,
        Operation(operation),
        Permission(permission),
    )
    if acl_entry(acl) != entry:
        raise ValueError("not an ACL that this version knows")
    return acl


def credential_entry(user: str, credential: ScramCredential) -> SecurityEntry:
    value = {
        "salt": _base64(credential.salt),
        "stored_key": _base64(credential.stored_key),
        "server_key": _base64(credential.server_key),
        "iterations": credential.iterations,
    }
    key = CredentialKey(user, credential.mechanism)
    return key.entry._replace(value=_text(value))


def read_credential(entry: SecurityEntry) -> ScramCredential:
    from samsa.security.scram import ScramCredential

    value = json.loads(entry.value)
    return ScramCredential(
        salt=b64decode(value["salt"]),
        stored_key=b64decode(value["stored_key"]),
        server_key=b64decode(value["server_key"]),
        iterations=int(value["iterations"]),
        mechanism=CredentialKey.of(entry).mechanism,
    )


def secret_entry(secret: bytes) -> SecurityEntry:
    """The secret of stand-ins, as a credential of the user without a name, as which no client can
    log in: so versions that do not know it can read it."""
    from samsa.security.scram import FEWEST_ITERATIONS, ScramCredential, ScramMechanism

    mechanism = ScramMechanism.SCRAM_SHA_512
    return credential_entry("", ScramCredential(b"", secret, b"", FEWEST_ITERATIONS, mechanism))


def is_secret(entry: SecurityEntry) -> bool:
    return (entry.kind, entry.name) == (SecurityKind.CREDENTIAL, SECRET_NAME)


def read_secret(entry: SecurityEntry) -> bytes:
    return read_credential(entry).stored_key


def quota_entry(key: QuotaKey, value: float) -> SecurityEntry:
    return key.entry._replace(value=_text(value))


def read_quota(entry: SecurityEntry) -> float:
    value = float(json.loads(entry.value))
    entity, key = QuotaKey.of(entry)
    problem = problem_with_entity(entity.parts) or problem_with_quota(entity, key, value)
    if problem is not None:
        raise ValueError(problem)
    return value


def _text(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _base64(raw: bytes) -> str:
    return b64encode(raw).decode()
