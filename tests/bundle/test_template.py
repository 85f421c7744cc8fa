"""The template is closed by default: who may do what, and who may come in."""

import re
from pathlib import Path
from typing import Any

import pytest
from support.template import read_template

import samsa.aws
from samsa.aws.new_table import _table

TEMPLATE = read_template()
RESOURCES: dict[str, dict[str, Any]] = TEMPLATE["Resources"]
LEDGER = Path(samsa.aws.__file__).parent
KEY_PREFIX = re.compile(r"\$\{Bucket\.Arn\}/[a-z]+/\*")
CONNECTION = re.compile(r"arn:[^*]*:\$\{WebSocketApi\}/live/POST/@connections/\*")


def of_type(kind: str) -> dict[str, dict[str, Any]]:
    return {
        name: resource.get("Properties", {})
        for name, resource in RESOURCES.items()
        if resource["Type"] == kind
    }


def allowed() -> list[tuple[str, str, dict[str, Any]]]:
    """Every statement by which a role may do something."""
    return [
        (role, statement.get("Sid", ""), statement)
        for role, properties in of_type("AWS::IAM::Role").items()
        for policy in properties["Policies"]
        for statement in policy["PolicyDocument"]["Statement"]
        if statement["Effect"] == "Allow"
    ]


def listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


@pytest.mark.parametrize(("role", "sid", "statement"), allowed())
def test_no_statement_allows_more_than_it_names(role: str, sid: str, statement: dict[str, Any]):
    assert "NotAction" not in statement
    assert "NotResource" not in statement
    for action in listed(statement["Action"]):
        assert re.fullmatch(r"[a-z0-9-]+:[A-Za-z]+", action), action
    for resource in listed(statement["Resource"]):
        # Objects and connections have names that nobody knows before; all else is one thing.
        text = str(resource.get("Fn::Sub", resource) if isinstance(resource, dict) else resource)
        narrow = KEY_PREFIX.fullmatch(text) or CONNECTION.fullmatch(text)
        assert narrow or "*" not in text, text


def test_every_function_has_a_role_of_its_own_and_no_managed_policy():
    functions = of_type("AWS::Serverless::Function")
    roles = [properties["Role"]["Fn::GetAtt"] for properties in functions.values()]
    assert len({str(role) for role in roles}) == len(functions) >= 2
    for properties in functions.values():
        assert "Policies" not in properties
    for properties in of_type("AWS::IAM::Role").values():
        assert "ManagedPolicyArns" not in properties
        [trust] = properties["AssumeRolePolicyDocument"]["Statement"]
        assert trust["Principal"] == {"Service": "lambda.amazonaws.com"}


def test_who_writes_for_others_may_wake_them_and_only_the_gateway_touches_what_was_spilled():
    pushing = {role for role, _, s in allowed() if "execute-api" in str(s["Action"])}
    spilling = {role for role, _, s in allowed() if "spill" in str(s["Resource"])}
    assert pushing == {"GatewayRole", "HttpRole"}
    assert spilling == {"GatewayRole"}


def test_no_bucket_is_public_or_readable_without_tls():
    buckets = of_type("AWS::S3::Bucket")
    assert buckets
    for properties in buckets.values():
        assert set(properties["PublicAccessBlockConfiguration"].values()) == {True}
        assert len(properties["PublicAccessBlockConfiguration"]) == 4
        assert "AccessControl" not in properties
        assert properties["OwnershipControls"]["Rules"] == [
            {"ObjectOwnership": "BucketOwnerEnforced"}
        ]
        assert properties["BucketEncryption"]["ServerSideEncryptionConfiguration"]
    for policy in of_type("AWS::S3::BucketPolicy").values():
        for statement in policy["PolicyDocument"]["Statement"]:
            assert statement["Effect"] == "Deny"


def test_what_is_spilled_goes_after_a_day_and_the_log_never_by_itself():
    rules = RESOURCES["Bucket"]["Properties"]["LifecycleConfiguration"]["Rules"]
    expiring = [rule for rule in rules if any("Expiration" in name for name in rule)]
    assert [(rule["Prefix"], rule["ExpirationInDays"]) for rule in expiring] == [("spill/", 1)]
    assert any("AbortIncompleteMultipartUpload" in rule for rule in rules)
    assert all(rule["Status"] == "Enabled" for rule in rules)


def test_no_route_is_open_to_strangers():
    """A WebSocket is authorised once, at $connect; nothing else can be reached without it."""
    routes = {p["RouteKey"]: p for p in of_type("AWS::ApiGatewayV2::Route").values()}
    assert set(routes) == {"$connect", "$default", "$disconnect"}
    assert routes["$connect"]["AuthorizationType"] == "AWS_IAM"
    apis = of_type("AWS::ApiGatewayV2::Api")
    assert [properties["ProtocolType"] for properties in apis.values()] == ["WEBSOCKET"]
    assert not of_type("AWS::Lambda::Url")
    assert not of_type("AWS::Serverless::Api")
    for properties in of_type("AWS::Serverless::HttpApi").values():
        assert properties["Auth"]["EnableIamAuthorizer"] is True
        assert properties["Auth"]["DefaultAuthorizer"] == "AWS_IAM"
        # No page in a browser is let in, whoever looks at it.
        assert "CorsConfiguration" not in properties
    for properties in of_type("AWS::Serverless::Function").values():
        assert "FunctionUrlConfig" not in properties
        for event in properties.get("Events", {}).values():
            assert event["Type"] in ("Schedule", "HttpApi")
            # No route of its own authoriser, or of none.
            assert "Auth" not in event["Properties"]
            if event["Type"] == "HttpApi":
                assert event["Properties"]["ApiId"] == {"Ref": "HttpApi"}


def test_the_answer_goes_back_as_a_route_response():
    route = RESOURCES["DefaultRoute"]["Properties"]
    response = RESOURCES["DefaultRouteResponse"]["Properties"]
    assert route["RouteResponseSelectionExpression"] == "$default"
    assert (response["RouteId"], response["RouteResponseKey"]) == (
        {"Ref": "DefaultRoute"},
        "$default",
    )
    deployed = RESOURCES["WebSocketDeployment1"]["DependsOn"]
    kinds = ("AWS::ApiGatewayV2::Route", "AWS::ApiGatewayV2::RouteResponse")
    assert set(deployed) == {name for kind in kinds for name in of_type(kind)}


def test_the_table_is_the_one_that_the_ledger_would_make():
    properties = RESOURCES["Table"]["Properties"]
    for name, value in _table("samsa").items():
        if name != "TableName":
            assert properties[name] == value
    assert properties["TimeToLiveSpecification"] == {"AttributeName": "expires", "Enabled": True}
    assert properties["PointInTimeRecoverySpecification"]["PointInTimeRecoveryEnabled"] is True


def test_what_holds_records_outlives_the_stack():
    for name in ("Table", "Bucket"):
        assert RESOURCES[name]["DeletionPolicy"] == "Retain"
        assert RESOURCES[name]["UpdateReplacePolicy"] == "Retain"


def test_functions_run_on_arm_with_the_layer_and_in_the_integrations_time():
    common = TEMPLATE["Globals"]["Function"]
    assert common["Architectures"] == ["arm64"]
    assert common["Layers"] == [{"Ref": "SamsaLayer"}]
    assert RESOURCES["SamsaLayer"]["Properties"]["CompatibleArchitectures"] == ["arm64"]
    assert RESOURCES["GatewayFunction"]["Properties"]["Timeout"] <= 29


def test_the_outputs_say_how_to_come_in():
    said = TEMPLATE["Outputs"]["Shim"]["Value"]["Fn::Sub"]
    assert said.startswith("samsa shim --url wss://${WebSocketApi}.execute-api.")
    assert "--no-sign" not in said
    stage = RESOURCES["WebSocketStage"]["Properties"]["StageName"]
    assert f"/{stage} " in said


def test_every_alarm_watches_something_of_the_stack():
    alarms = of_type("AWS::CloudWatch::Alarm")
    watched = {
        dimension["Value"]["Ref"]
        for properties in alarms.values()
        for dimension in properties["Dimensions"]
        if isinstance(dimension["Value"], dict)
    }
    functions = set(of_type("AWS::Serverless::Function"))
    assert watched == functions | {"Table", "WebSocketApi"}
    for properties in alarms.values():
        assert properties["AlarmActions"]


def test_the_http_api_may_do_to_the_log_what_the_gateway_does_and_is_told_the_same():
    def rights(of: str) -> dict[str, Any]:
        return {
            sid: statement for role, sid, statement in allowed() if role == of and sid != "Logs"
        }

    ours, theirs = rights("HttpRole"), rights("GatewayRole")
    assert ours.keys() == theirs.keys()
    assert ours["Objects"]["Resource"] == {"Fn::Sub": "${Bucket.Arn}/log/*"}
    for sid, statement in ours.items():
        assert statement["Action"] == theirs[sid]["Action"]
        assert sid == "Objects" or statement["Resource"] == theirs[sid]["Resource"]
    told = [
        RESOURCES[name]["Properties"]["Environment"]["Variables"]
        for name in ("HttpFunction", "GatewayFunction")
    ]
    assert told[0] == told[1]


def test_functions_may_call_of_dynamodb_what_the_ledger_calls_and_no_more():
    source = "".join(file.read_text() for file in LEDGER.glob("*.py"))
    methods = set(
        re.findall(r'"((?:get|put|update|delete|batch_\w+|transact_\w+)_items?|query)"', source)
    )
    called = {"dynamodb:" + "".join(map(str.capitalize, name.split("_"))) for name in methods}
    # A transaction asks for the rights of its parts.
    assert "dynamodb:TransactWriteItems" in called
    assert "ConditionCheck" in source
    needed = called - {"dynamodb:TransactWriteItems"} | {"dynamodb:ConditionCheckItem"}
    for role, sid, statement in allowed():
        if sid == "Ledger":
            assert set(statement["Action"]) == needed, role
