"""samsa schemas: list, show, register and check the schemas of a registry."""

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from .client import ClientError
from .options import add_command, add_registry
from .registry_client import RegistryClient, path_of

INCOMPATIBLE = 1
KINDS = {".avsc": "AVRO", ".avro": "AVRO", ".json": "JSON", ".proto": "PROTOBUF"}
EXAMPLES = """
examples:
  samsa schemas list
  samsa schemas show orders-value
  samsa schemas show orders-value --version 3
  samsa schemas register orders-value order.avsc
  samsa schemas register orders-value order.proto --reference money.proto=money:1
  samsa schemas check orders-value order.avsc

samsa schemas ACTION --help says more about each.
"""


def add_to(commands: Any) -> None:
    schemas = add_command(
        commands,
        "schemas",
        brief="list, show, register and check schemas",
        description="Schemas of a schema registry: that of samsa up, or any other with Confluent's "
        "API.",
        epilog=EXAMPLES,
    )
    actions = schemas.add_subparsers(dest="action", metavar="ACTION", required=True)
    listing = actions.add_parser(
        "list",
        help="one line per version: subject, version, id, kind",
        description="One line per version of each subject: subject, version, id, kind.",
    )
    listing.add_argument("--prefix", metavar="TEXT", help="only subjects that begin like this")
    listing.add_argument("--deleted", action="store_true", help="also what is soft deleted")
    listing.set_defaults(run=list_all)
    show = actions.add_parser(
        "show", help="print a schema", description="Print a schema, by its subject or by its id."
    )
    show.add_argument("subject", nargs="?", help="its name")
    show.add_argument("--version", default="latest", help="its number (%(default)s)")
    show.add_argument("--id", type=int, metavar="N", help="instead of a subject")
    show.set_defaults(run=show_one)
    register = actions.add_parser(
        "register",
        help="register a schema, and print its id",
        description="Register a schema under a subject, and print its id. If it is there already, "
        "nothing is changed.",
    )
    register.add_argument("--normalize", action="store_true", help="in its normal form")
    register.set_defaults(run=register_one)
    check = actions.add_parser(
        "check",
        help="whether a schema could be registered",
        description="Compare a schema with the versions of a subject, as its compatibility level "
        "asks. The exit status is 0 if it fits, and 1 if not.",
    )
    check.set_defaults(run=check_one)
    for action in (register, check):
        _add_schema(action)
    for action in (listing, show, register, check):
        add_registry(action)
        action.add_argument(
            "--command-config", metavar="FILE", help="how to log in there: as of other commands"
        )


def _add_schema(action: argparse.ArgumentParser) -> None:
    action.add_argument("subject", help="such as orders-value, for the values of topic orders")
    action.add_argument("file", help=".avsc, .json or .proto; - is standard input")
    action.add_argument("--type", choices=("AVRO", "JSON", "PROTOBUF"), help="(by the file's name)")
    action.add_argument(
        "--reference", metavar="NAME=SUBJECT:VERSION", action="append", default=[],
        help="a schema that the file names; may be repeated",
    )  # fmt: skip


def list_all(given: argparse.Namespace) -> int:
    client, at = RegistryClient.of(given), 0
    while True:
        found = client.ask(
            "GET", "/schemas", offset=at, subjectPrefix=given.prefix, deleted=given.deleted
        )
        for each in found:
            kind = each.get("schemaType", "AVRO")
            print(f"{each['subject']}\t{each['version']}\t{each['id']}\t{kind}")
        if not found:
            return 0
        at += len(found)


def show_one(given: argparse.Namespace) -> int:
    if (given.id is None) == (given.subject is None):
        raise ClientError("give a subject or --id N")
    path = f"/schemas/ids/{given.id}"
    if given.subject is not None:
        path = f"{path_of(given.subject)}/versions/{given.version}"
    told = RegistryClient.of(given).ask("GET", path)
    text = told["schema"]
    if told.get("schemaType", "AVRO") != "PROTOBUF":
        text = json.dumps(json.loads(text), indent=2, ensure_ascii=False)
    print(text)
    return 0


def register_one(given: argparse.Namespace) -> int:
    path = f"{path_of(given.subject)}/versions"
    client = RegistryClient.of(given)
    print(client.ask("POST", path, _schema(given), normalize=given.normalize)["id"])
    return 0


def check_one(given: argparse.Namespace) -> int:
    path = f"/compatibility{path_of(given.subject)}/versions"
    told = RegistryClient.of(given).ask("POST", path, _schema(given), verbose=True)
    for line in told.get("messages") or ():
        print(line)
    print("compatible" if told["is_compatible"] else "incompatible")
    return 0 if told["is_compatible"] else INCOMPATIBLE


def _schema(given: argparse.Namespace) -> dict[str, Any]:
    kind = given.type or KINDS.get(Path(given.file).suffix)
    if kind is None:
        raise ClientError(f"{given.file}: say its --type: AVRO, JSON or PROTOBUF")
    return {
        "schema": _text(given.file),
        "schemaType": kind,
        "references": [_reference(each) for each in given.reference],
    }


def _text(file: str) -> str:
    try:
        return sys.stdin.read() if file == "-" else Path(file).read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ClientError(f"{file}: {getattr(error, 'strerror', None) or error}") from None


def _reference(text: str) -> dict[str, Any]:
    name, equals, where = text.rpartition("=")
    subject, _, version = where.rpartition(":")
    if not equals or not subject or not version.isdecimal():
        raise ClientError(f"{text!r} is not NAME=SUBJECT:VERSION")
    return {"name": name, "subject": subject, "version": int(version)}
