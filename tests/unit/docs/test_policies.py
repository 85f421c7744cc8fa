"""The policies and ACLs of docs/security.md: they fit the template, and give what the page says."""

import asyncio
import json
import re
import shlex
from pathlib import Path
from typing import Any

import pytest
from support.template import read_template
from unit.docs.pages import ROOT, code

from samsa.access.entries import read_acl
from samsa.local.sqlite_groups import SqliteGroups
from samsa.security.authorizer import Authorizer
from samsa.security.aws_principals import principal_of_arn
from samsa.security.kinds import CLUSTER_NAME, Operation, ResourceType
from samsa_broker.cli.main import main

PAGE = ROOT / "docs" / "security.md"
POLICIES = [json.loads(block) for block in code(PAGE, "json")]
TEMPLATE = read_template()
VALUES = {
    "AWS::Partition": "aws",
    "AWS::Region": "[a-z]{2}-[a-z]+-[0-9]",
    "AWS::AccountId": "[0-9]{12}",
    "WebSocketApi": "(?P<api>[a-z0-9]{10})",
    "HttpApi": "(?P<api>[a-z0-9]{10})",
}
TEAM, WRITER, ADMIN = "orders-team", "orders-writer", "admin"
TOPIC, GROUP, CLUSTER = ResourceType.TOPIC, ResourceType.GROUP, ResourceType.CLUSTER
OP = Operation


def pattern(output: str) -> re.Pattern[str]:
    """What the template says of a resource, as a pattern of its ARN."""
    text: str = TEMPLATE["Outputs"][output]["Value"]["Fn::Sub"]
    parts = re.split(r"\$\{([\w:]+)\}", text)
    return re.compile("".join(VALUES[p] if n % 2 else re.escape(p) for n, p in enumerate(parts)))


RESOURCES = {pattern("ConnectResource"), pattern("HttpResource")}


def statements() -> list[Any]:
    return [statement for policy in POLICIES for statement in policy["Statement"]]


def listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def test_there_is_a_policy_for_clients_and_one_for_admins():
    assert len(POLICIES) == 2
    assert [len(listed(each["Resource"])) for each in statements()] == [1, 2]
    assert {each["Version"] for each in POLICIES} == {"2012-10-17"}


@pytest.mark.parametrize("statement", statements())
def test_a_policy_allows_to_connect_to_the_apis_of_the_template_and_nothing_else(statement: Any):
    assert set(statement) == {"Sid", "Effect", "Action", "Resource"}
    assert (statement["Effect"], statement["Action"]) == ("Allow", "execute-api:Invoke")
    for resource in listed(statement["Resource"]):
        assert [each for each in RESOURCES if each.fullmatch(resource)], resource


def test_the_routes_of_the_policies_are_guarded_by_iam():
    resources = TEMPLATE["Resources"]
    assert resources["ConnectRoute"]["Properties"]["AuthorizationType"] == "AWS_IAM"
    assert resources["ConnectRoute"]["Properties"]["RouteKey"] == "$connect"
    assert resources["HttpApi"]["Properties"]["Auth"]["DefaultAuthorizer"] == "AWS_IAM"


async def made(path: Path) -> Authorizer:
    commands = [c for block in code(PAGE) for c in block.splitlines() if c.startswith("samsa ")]
    assert len(commands) == 7
    for command in commands:
        words = [*shlex.split(command)[1:], "--ledger", f"sqlite://{path}"]
        assert await asyncio.to_thread(main, words) == 0, command
    groups = SqliteGroups(str(path))
    found = await groups.security()
    await groups.close()
    return Authorizer([read_acl(each) for each in found.entries], frozenset(), False)


def may(
    authorizer: Authorizer, role: str, operation: Operation, kind: ResourceType, name: str
) -> bool:
    session = f"arn:aws:sts::123456789012:assumed-role/{role}/somebody"
    principal = principal_of_arn(session)
    return authorizer.authorize(principal, "203.0.113.7", operation, kind, name).allowed


async def test_the_acls_give_what_the_page_says(tmp_path: Path):
    given = await made(tmp_path / "ledger.db")
    table = {
        (WRITER, OP.WRITE, TOPIC, "orders"): True,
        (WRITER, OP.DESCRIBE, TOPIC, "orders"): True,
        (WRITER, OP.READ, TOPIC, "orders"): False,
        (WRITER, OP.WRITE, TOPIC, "orders-2"): False,
        (WRITER, OP.CREATE, CLUSTER, CLUSTER_NAME): False,
        (TEAM, OP.READ, TOPIC, "orders"): True,
        (TEAM, OP.WRITE, TOPIC, "orders"): True,
        (TEAM, OP.READ, TOPIC, "payroll"): False,
        (TEAM, OP.READ, GROUP, "orders-billing"): True,
        (TEAM, OP.READ, GROUP, "billing"): False,
        (TEAM, OP.DELETE, TOPIC, "orders"): False,
        (ADMIN, OP.ALTER, CLUSTER, CLUSTER_NAME): True,
        (ADMIN, OP.DELETE, TOPIC, "payroll"): True,
        (ADMIN, OP.DELETE, GROUP, "any"): True,
        (ADMIN, OP.WRITE, ResourceType.TRANSACTIONAL_ID, "any"): True,
        ("stranger", OP.DESCRIBE, TOPIC, "orders"): False,
    }
    found = {asked: may(given, *asked) for asked in table}
    assert found == table
    session = "arn:aws:sts::123456789012:assumed-role/orders-writer/somebody"
    writer = principal_of_arn(session)
    # An idempotent producer needs no more.
    assert given.authorize_any(writer, "203.0.113.7", OP.WRITE, TOPIC)


def test_the_parameters_of_the_template_are_those_that_the_functions_read():
    parameters = TEMPLATE["Parameters"]
    assert parameters["AccessControl"]["Default"] == "off"
    for name in ("GatewayFunction", "HttpFunction"):
        variables = TEMPLATE["Resources"][name]["Properties"]["Environment"]["Variables"]
        assert variables["SAMSA_ACLS"] == {"Ref": "AccessControl"}
        assert variables["SAMSA_SUPER_USERS"] == {"Ref": "SuperUsers"}
    users = re.compile(parameters["SuperUsers"]["AllowedPattern"])
    role = "User:arn:aws:iam::123456789012:role/admin"
    for good in ("", role, f"{role};User:CN=a,O=b"):
        assert users.fullmatch(good), good
    for bad in ("admin", f"{role};", f"{role};admin", ";"):
        assert not users.fullmatch(bad), bad
