"""samsa acls: add, list and delete ACLs, and say why something is allowed."""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from typing import Any

from samsa.security.acls import Acl
from samsa.security.authorizer import Authorizer
from samsa.security.kinds import CLUSTER_NAME, Operation, PatternType, Permission, ResourceType
from samsa.security.principals import Principal
from samsa.wire.apis import ApiKey
from samsa.wire.messages import create_acls, delete_acls, describe_acls

from .client import ClientError, check
from .on_stores import Asks, add_where, asks
from .options import add_command

CHECK = """
Say whether a principal may do something, and which ACL decides. Super users and
--allow-everyone-if-no-acl are set where a broker is started: name them here, too.
The exit status is 0 if it is allowed, and 2 if not.
"""
EXAMPLES = """
examples:
  samsa acls add --principal User:alice --operation read --topic orders
  samsa acls add --principal User:alice --operation read --group billing- --prefixed
  samsa acls add --principal 'User:*' --operation write --topic audit --deny
  samsa acls list --principal User:alice
  samsa acls check --principal User:alice --operation write --topic orders
  samsa acls delete --principal User:alice --topic orders

samsa acls ACTION --help says more about each.
"""
OPERATIONS = tuple(
    one.name.lower().replace("_", "-") for one in Operation if one > Operation.ANY
)  # fmt: skip
RESOURCES = {
    "topic": ResourceType.TOPIC,
    "group": ResourceType.GROUP,
    "transactional_id": ResourceType.TRANSACTIONAL_ID,
    "user": ResourceType.USER,
}
ANY = 1
DENIED = 2


def add_to(commands: Any) -> None:
    acls = add_command(
        commands,
        "acls",
        brief="add, list, delete and check ACLs",
        description="ACLs: who may do what, as Kafka has them. A broker goes by them if it was "
        "started with --acls.",
        epilog=EXAMPLES,
    )
    actions = acls.add_subparsers(dest="action", metavar="ACTION", required=True)
    add = actions.add_parser(
        "add",
        help="allow or deny something",
        description="Allow an operation, or several, or deny them. To deny outweighs to allow.",
    )
    add.add_argument("--principal", required=True, help="such as User:alice, or User:* for all")
    add.add_argument("--host", default="*", help="the client's address (all)")
    add.add_argument(
        "--operation", required=True, action="append", choices=OPERATIONS, metavar="NAME",
        help=f"one of {', '.join(OPERATIONS)}; may be repeated",
    )  # fmt: skip
    add.add_argument("--deny", action="store_true", help="deny it, instead of allowing it")
    add.set_defaults(run=add_some)
    listing = actions.add_parser(
        "list", help="one line per ACL", description="One line per ACL, of all or of those named."
    )
    listing.set_defaults(run=list_all)
    delete = actions.add_parser(
        "delete",
        help="delete ACLs",
        description="Delete the ACLs that have all that is named here, at once and without asking.",
    )
    delete.add_argument("--all", action="store_true", help="if nothing else is named: all of them")
    delete.set_defaults(run=delete_some)
    for action in (listing, delete):
        _add_filter(action)
    why = actions.add_parser(
        "check", help="whether something is allowed, and which ACL decides", description=CHECK
    )
    why.add_argument("--principal", required=True, help="such as User:alice")
    why.add_argument("--host", default="127.0.0.1", help="the client's address (%(default)s)")
    why.add_argument(
        "--operation", required=True, choices=OPERATIONS, metavar="NAME", help="such as read"
    )
    why.add_argument(
        "--super-user", action="append", default=[], metavar="User:NAME", help="of the broker"
    )
    why.add_argument(
        "--allow-everyone-if-no-acl", action="store_true", help="if the broker has this option"
    )
    why.set_defaults(run=check_one)
    for action in (add, listing, delete, why):
        _add_resource(action, must=action in (add, why), has_prefix=action is not why)
        add_where(action)


def _add_filter(action: argparse.ArgumentParser) -> None:
    action.add_argument("--principal", help="only those of this one")
    action.add_argument("--host", help="only those for this address")
    action.add_argument("--operation", choices=OPERATIONS, metavar="NAME", help="only those for it")


def _add_resource(action: argparse.ArgumentParser, must: bool, has_prefix: bool) -> None:
    kinds = action.add_mutually_exclusive_group(required=must)
    kinds.add_argument("--topic", metavar="NAME", help="on this topic")
    kinds.add_argument("--group", metavar="NAME", help="on this consumer group")
    kinds.add_argument("--transactional-id", metavar="NAME", help="on this one of producers")
    kinds.add_argument("--user", metavar="NAME", help="on this user, for delegation tokens")
    kinds.add_argument("--cluster", action="store_true", help="on the cluster itself")
    if has_prefix:
        action.add_argument(
            "--prefixed", action="store_true", help="all names that begin with NAME"
        )


def _resource(given: argparse.Namespace) -> tuple[ResourceType, str | None]:
    if given.cluster:
        return ResourceType.CLUSTER, CLUSTER_NAME
    for name, kind in RESOURCES.items():
        if getattr(given, name) is not None:
            return kind, getattr(given, name)
    return ResourceType.ANY, None


def _operation(name: str | None) -> Operation:
    return Operation[name.upper().replace("-", "_")] if name else Operation.ANY


def add_some(given: argparse.Namespace) -> int:
    kind, name = _resource(given)
    assert name is not None, "one of them is required"
    pattern = PatternType.PREFIXED if given.prefixed else PatternType.LITERAL
    permission = Permission.DENY if given.deny else Permission.ALLOW
    acls = [
        Acl(kind, pattern, name, given.principal, given.host, _operation(each), permission)
        for each in dict.fromkeys(given.operation)
    ]
    row = create_acls.REQUEST(creations=[_creation(acl) for acl in acls])
    results = asks(given).ask(ApiKey.CREATE_ACLS, row).results
    for acl, result in zip(acls, results, strict=True):
        check(result.error_code, result.error_message, str(acl))
        print(f"added {acl}")
    return 0


def _creation(acl: Acl) -> create_acls.AclCreation:
    return create_acls.CREATION(
        resource_type=acl.resource_type,
        resource_name=acl.name,
        resource_pattern_type=acl.pattern_type,
        principal=acl.principal,
        host=acl.host,
        operation=acl.operation,
        permission_type=acl.permission,
    )


def _filter(given: argparse.Namespace) -> dict[str, Any]:
    kind, name = _resource(given)
    literal = PatternType.LITERAL if name is not None else PatternType.ANY
    return {
        "resource_type_filter": kind,
        "resource_name_filter": name,
        "pattern_type_filter": PatternType.PREFIXED if given.prefixed else literal,
        "principal_filter": given.principal,
        "host_filter": given.host,
        "operation": _operation(given.operation),
        "permission_type": ANY,
    }


def list_all(given: argparse.Namespace) -> int:
    for acl in sorted(_found(asks(given), _filter(given))):
        print(acl)
    return 0


def _found(client: Asks, wanted: dict[str, Any]) -> Iterable[Acl]:
    answer = client.ask(ApiKey.DESCRIBE_ACLS, describe_acls.REQUEST(**wanted))
    check(answer.error_code, answer.error_message, "ACLs")
    return [
        Acl(
            ResourceType(resource.resource_type),
            PatternType(resource.pattern_type),
            resource.resource_name,
            acl.principal,
            acl.host,
            Operation(acl.operation),
            Permission(acl.permission_type),
        )
        for resource in answer.resources
        for acl in resource.acls
    ]


def delete_some(given: argparse.Namespace) -> int:
    kind, _ = _resource(given)
    named = (given.principal, given.host, given.operation, kind is not ResourceType.ANY)
    if not any(named) and not given.all:
        raise ClientError("name which, or --all")
    row = delete_acls.REQUEST(filters=[delete_acls.FILTER(**_filter(given))])
    (result,) = asks(given).ask(ApiKey.DELETE_ACLS, row).filter_results
    check(result.error_code, result.error_message, "ACLs")
    print(f"deleted {len(result.matching_acls)} ACL(s)")
    return 0


def check_one(given: argparse.Namespace) -> int:
    kind, name = _resource(given)
    assert name is not None, "one of them is required"
    try:
        principal = Principal.of(given.principal)
    except ValueError as error:
        raise ClientError(str(error)) from error
    wanted = {
        "resource_type_filter": kind,
        "resource_name_filter": name,
        "pattern_type_filter": PatternType.MATCH,
        "operation": ANY,
        "permission_type": ANY,
    }
    wanted |= {"principal_filter": None, "host_filter": None}
    authorizer = Authorizer(
        _found(asks(given), wanted), frozenset(given.super_user), given.allow_everyone_if_no_acl
    )
    decision = authorizer.authorize(principal, given.host, _operation(given.operation), kind, name)
    print(decision)
    return 0 if decision.allowed else DENIED
