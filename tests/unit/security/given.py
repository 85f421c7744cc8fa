"""What tests of the security room start from."""

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

from samsa.security.acls import Acl
from samsa.security.kinds import Operation, PatternType, Permission, ResourceType
from samsa.security.principals import Principal
from samsa.security.scram import ScramCredential
from samsa.security.stand_ins import stand_in

# The machines that run these tests may be busy.
PATIENT = settings(suppress_health_check=[HealthCheck.too_slow])

ALICE = Principal("User", "alice")
HOST = "10.0.0.1"
NAMES = ("a", "ab", "abc", "b", "ba", "*", "hardcode", "hard")
REAL_OPERATIONS = tuple(Operation)[3:]


def made_up(user: str, sasl_name: str) -> ScramCredential:
    return stand_in(user, sasl_name, {}, b"secret")


def acl(
    name: str = "orders",
    operation: Operation = Operation.READ,
    permission: Permission = Permission.ALLOW,
    pattern: PatternType = PatternType.LITERAL,
    principal: str = "User:alice",
    host: str = "*",
    kind: ResourceType = ResourceType.TOPIC,
) -> Acl:
    return Acl(kind, pattern, name, principal, host, operation, permission)


def acl_of(row: list) -> Acl:
    kind, pattern, name, principal, host, operation, permission = row
    return Acl(
        ResourceType(kind), PatternType(pattern), name, principal, host,
        Operation(operation), Permission(permission),
    )  # fmt: skip


acls = st.builds(
    Acl,
    st.sampled_from((ResourceType.TOPIC, ResourceType.GROUP)),
    st.sampled_from((PatternType.LITERAL, PatternType.PREFIXED)),
    st.sampled_from(NAMES),
    st.sampled_from(("User:alice", "User:bob", "User:*", "Group:alice")),
    st.sampled_from(("*", "10.0.0.1", "10.0.0.2")),
    st.sampled_from((Operation.ALL, *REAL_OPERATIONS)),
    st.sampled_from((Permission.ALLOW, Permission.ALLOW, Permission.DENY)),
)
