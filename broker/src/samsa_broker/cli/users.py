"""samsa users: add, list and delete users who log in with SCRAM."""

import argparse
import getpass
import os
import sys
from pathlib import Path
from typing import Any

from samsa.security.scram import (
    FEWEST_ITERATIONS,
    MOST_ITERATIONS,
    ScramMechanism,
    salted_password,
)
from samsa.wire.apis import ApiKey
from samsa.wire.errors import ErrorCode
from samsa.wire.messages import alter_user_scram_credentials as alter
from samsa.wire.messages import describe_user_scram_credentials as describe

from .client import ClientError, check
from .on_stores import Asks, add_where, asks
from .options import add_command

ADD = """
Add a user, or give one another password. The password is asked for, or read from a file or from
standard input (its first line). It is salted here: the broker never sees it.
"""
EXAMPLES = """
examples:
  samsa users add alice                                   asks for the password
  samsa users add alice --password-file alice.password
  samsa users add admin --ledger sqlite:///var/lib/samsa/ledger.db     without a broker
  samsa users list
  samsa users delete alice

samsa users ACTION --help says more about each.
"""
MECHANISMS = ("SCRAM-SHA-256", "SCRAM-SHA-512")
SALT_BYTES = 24
TOO_LONG = 10_000


def add_to(commands: Any) -> None:
    users = add_command(
        commands,
        "users",
        brief="add, list and delete users who log in with SCRAM",
        description="Users who log in with SCRAM: add, list and delete them.",
        epilog=EXAMPLES,
    )
    actions = users.add_subparsers(dest="action", metavar="ACTION", required=True)
    add = actions.add_parser("add", help="add a user, or change a password", description=ADD)
    add.add_argument("name", help="of the user")
    add.add_argument(
        "--mechanism", choices=MECHANISMS, default="SCRAM-SHA-512", help="(%(default)s)"
    )
    add.add_argument(
        "--iterations", type=int, default=FEWEST_ITERATIONS, metavar="N",
        help=f"how costly it is to try passwords: {FEWEST_ITERATIONS} to {MOST_ITERATIONS} "
        "(%(default)s)",
    )  # fmt: skip
    source = add.add_mutually_exclusive_group()
    source.add_argument("--password-file", metavar="FILE", help="its first line is the password")
    source.add_argument(
        "--password-stdin", action="store_true", help="read the password from standard input"
    )
    add.set_defaults(run=add_one)
    listing = actions.add_parser(
        "list",
        help="one line per user and mechanism",
        description="One line per user and mechanism: the name, the mechanism, its iterations.",
    )
    listing.set_defaults(run=list_all)
    delete = actions.add_parser(
        "delete",
        help="delete a user",
        description="Delete the credentials of a user. Connections that are logged in stay.",
    )
    delete.add_argument("name", help="of the user")
    delete.add_argument("--mechanism", choices=MECHANISMS, help="only the credential for this one")
    delete.set_defaults(run=delete_one)
    for action in (add, listing, delete):
        add_where(action)


def add_one(given: argparse.Namespace) -> int:
    mechanism, salt = ScramMechanism.of(given.mechanism), os.urandom(SALT_BYTES)
    if not FEWEST_ITERATIONS <= given.iterations <= MOST_ITERATIONS:
        problem = f"--iterations is from {FEWEST_ITERATIONS} to {MOST_ITERATIONS}"
        raise ClientError(problem)
    salted = salted_password(_password(given), salt, given.iterations, mechanism)
    change = alter.UPSERTION(
        name=given.name,
        mechanism=mechanism,
        iterations=given.iterations,
        salt=salt,
        salted_password=salted,
    )
    _alter(asks(given), alter.REQUEST(upsertions=[change]))
    print(f"added {given.name} ({given.mechanism})")
    return 0


def _password(given: argparse.Namespace) -> str:
    """Raises ClientError."""
    if given.password_stdin:
        text = sys.stdin.readline(TOO_LONG)
    elif given.password_file:
        try:
            text = Path(given.password_file).read_text()
        except (OSError, UnicodeDecodeError) as error:
            raise ClientError(f"{given.password_file}: {error}") from error
    else:
        text = _prompted(given.name)
    password = (text.splitlines() or [""])[0]
    if not password:
        raise ClientError("the password is empty")
    return password


def _prompted(name: str) -> str:
    """Raises ClientError."""
    try:
        password = getpass.getpass(f"Password of {name}: ")
        again = getpass.getpass("Once more: ")
    except EOFError:
        raise ClientError(
            "no terminal to ask for the password; use --password-stdin or --password-file"
        ) from None
    if again != password:
        raise ClientError("the two are not the same")
    return password


def list_all(given: argparse.Namespace) -> int:
    for user in _described(asks(given), None):
        for info in user.credential_infos:
            name = ScramMechanism(info.mechanism).sasl_name
            print(f"{user.user}\t{name}\titerations={info.iterations}")
    return 0


def _described(client: Asks, name: str | None) -> list[Any]:
    users = None if name is None else [describe.USER(name=name)]
    row = describe.REQUEST(users=users)
    answer = client.ask(ApiKey.DESCRIBE_USER_SCRAM_CREDENTIALS, row)
    check(answer.error_code, answer.error_message, "users")
    results: list[Any] = answer.results
    return results


def delete_one(given: argparse.Namespace) -> int:
    client = asks(given)
    (user,) = _described(client, given.name)
    if user.error_code == ErrorCode.RESOURCE_NOT_FOUND:
        raise ClientError(f"there is no user {given.name!r}")
    check(user.error_code, user.error_message, f"user {given.name!r}")
    wanted = given.mechanism and ScramMechanism.of(given.mechanism)
    # One at a time: a request may name a user once.
    for info in user.credential_infos:
        if wanted is None or info.mechanism == wanted:
            gone = alter.DELETION(name=given.name, mechanism=info.mechanism)
            _alter(client, alter.REQUEST(deletions=[gone]))
            print(f"deleted {given.name} ({ScramMechanism(info.mechanism).sasl_name})")
    return 0


def _alter(client: Asks, row: Any) -> None:
    (result,) = client.ask(ApiKey.ALTER_USER_SCRAM_CREDENTIALS, row).results
    check(result.error_code, result.error_message, f"user {result.user!r}")
