"""samsa quotas: limit what users, client ids and addresses may send and read."""

import argparse
import math
from typing import Any

from samsa.security.quotas import CLIENT_ID, CLIENT_KEYS, CONNECTION_CREATION_RATE, IP, USER
from samsa.wire.apis import ApiKey
from samsa.wire.messages import alter_client_quotas as alter
from samsa.wire.messages import describe_client_quotas as describe

from .client import ClientError, check
from .on_stores import add_where, asks
from .options import add_command

KEYS = (*CLIENT_KEYS, CONNECTION_CREATION_RATE)
SET = f"""
Set limits, or remove them with KEY=none. Keys: {", ".join(CLIENT_KEYS)} of users and client ids,
and {CONNECTION_CREATION_RATE} of addresses. Rates are per second, of all
processes together (each grants its share), or of all functions together.
"""
EXAMPLES = """
examples:
  samsa quotas set --user alice producer_byte_rate=1048576 consumer_byte_rate=2097152
  samsa quotas set --user-default --client-id reports consumer_byte_rate=65536
  samsa quotas set --ip 10.0.0.7 connection_creation_rate=5
  samsa quotas set --user alice producer_byte_rate=none
  samsa quotas list

samsa quotas ACTION --help says more about each.
"""
DEFAULT = "<default>"
EXACT, OF_DEFAULT = 0, 1
TYPES = (USER, CLIENT_ID, IP)


def add_to(commands: Any) -> None:
    quotas = add_command(
        commands,
        "quotas",
        brief="set and list quotas",
        description="Quotas: how much users, client ids and addresses may send and read.",
        epilog=EXAMPLES,
    )
    actions = quotas.add_subparsers(dest="action", metavar="ACTION", required=True)
    change = actions.add_parser("set", help="set limits, or remove them", description=SET)
    change.add_argument(
        "limits", nargs="+", metavar="KEY=VALUE", type=_limit, help="one or more; none removes one"
    )
    change.set_defaults(run=set_some)
    listing = actions.add_parser(
        "list",
        help="one line per limit",
        description="One line per limit, of all entities or of those that have what is named.",
    )
    listing.set_defaults(run=list_all)
    for action in (change, listing):
        for kind in TYPES:
            either = action.add_mutually_exclusive_group()
            either.add_argument(f"--{kind}", metavar="NAME", help="of this one")
            either.add_argument(
                f"--{kind}-default", action="store_true", help="all without one of their own"
            )
        add_where(action)


def _limit(text: str) -> tuple[str, float | None]:
    key, equals, value = text.partition("=")
    if not equals or key not in KEYS:
        raise argparse.ArgumentTypeError(f"{text!r} is not KEY=VALUE with one of {', '.join(KEYS)}")
    if value == "none":
        return key, None
    try:
        number = float(value)
    except ValueError:
        number = 0.0
    if not 0 < number < math.inf:
        raise argparse.ArgumentTypeError(f"{text!r}: a number above 0, or none")
    return key, number


def _entity(given: argparse.Namespace) -> dict[str, str | None]:
    """None is the default of its type."""
    found: dict[str, str | None] = {}
    for kind in TYPES:
        option = kind.replace("-", "_")
        if getattr(given, f"{option}_default"):
            found[kind] = None
        elif getattr(given, option) is not None:
            found[kind] = getattr(given, option)
    return found


def set_some(given: argparse.Namespace) -> int:
    entity = _entity(given)
    if not entity:
        raise ClientError("name a user, a client id, both, or an address")
    entry = alter.ENTRY(
        entity=[alter.ENTITY(entity_type=kind, entity_name=name) for kind, name in entity.items()],
        ops=[
            alter.OP(key=key, value=value or 0.0, remove=value is None)
            for key, value in dict(given.limits).items()
        ],
    )
    answer = asks(given).ask(ApiKey.ALTER_CLIENT_QUOTAS, alter.REQUEST(entries=[entry]))
    (result,) = answer.entries
    check(result.error_code, result.error_message, _words(entity))
    print(f"set for {_words(entity)}")
    return 0


def list_all(given: argparse.Namespace) -> int:
    components = [
        describe.COMPONENT(
            entity_type=kind, match_type=OF_DEFAULT if name is None else EXACT, match=name
        )
        for kind, name in _entity(given).items()
    ]
    row = describe.REQUEST(components=components)
    answer = asks(given).ask(ApiKey.DESCRIBE_CLIENT_QUOTAS, row)
    check(answer.error_code, answer.error_message, "quotas")
    for entry in answer.entries or ():
        words = _words({part.entity_type: part.entity_name for part in entry.entity})
        for value in entry.values:
            print(f"{words}\t{value.key}={value.value:.15g}")
    return 0


def _words(entity: dict[str, str | None]) -> str:
    return ", ".join(f"{kind}={DEFAULT if name is None else name}" for kind, name in entity.items())
