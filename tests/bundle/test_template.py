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
KEY_PREFIX = re.compile(r"arn:\$\{AWS::Partition\}:s3:::\$\{Used\}/[a-z]+/\*")
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


def subbed(value: Any) -> str:
    """The text of a !Sub; of anything else, what it looks like."""
    found = value.get("Fn::Sub", value) if isinstance(value, dict) else value
    return str(found[0] if isinstance(found, list) else found)


def either(condition: str, made: str, given: str) -> dict[str, Any]:
    return {"Fn::If": [condition, {"Ref": made}, {"Ref": given}]}


TABLE = either("MakesTable", "Table", "ExistingTable")
BUCKET = either("MakesBucket", "Bucket", "ExistingBucket")


def strings(value: Any) -> list[str]:
    """Every text in it."""
    if isinstance(value, dict):
        return [text for each in value.values() for text in strings(each)]
    if isinstance(value, list):
        return [text for each in value for text in strings(each)]
    return [value] if isinstance(value, str) else []


@pytest.mark.parametrize(("role", "sid", "statement"), allowed())
def test_no_statement_allows_more_than_it_names(role: str, sid: str, statement: dict[str, Any]):
    assert "NotAction" not in statement
    assert "NotResource" not in statement
    for action in listed(statement["Action"]):
        assert re.fullmatch(r"[a-z0-9-]+:[A-Za-z]+", action), action
    for resource in listed(statement["Resource"]):
        # Objects and connections have names that nobody knows before; all else is one thing.
        text = subbed(resource)
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
    spilling = {role: s["Action"] for role, _, s in allowed() if "spill" in str(s["Resource"])}
    assert pushing == {"GatewayRole", "HttpRole"}
    # Deleting is the lifecycle's business.
    assert spilling == {"GatewayRole": ["s3:GetObject", "s3:PutObject"]}


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
    expiring = [rule for rule in rules if "ExpirationInDays" in rule]
    assert [(rule["Prefix"], rule["ExpirationInDays"]) for rule in expiring] == [("spill/", 1)]
    assert [rule["NoncurrentVersionExpiration"] for rule in expiring] == [{"NoncurrentDays": 1}]
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
    # With a name of its own it would stand in the way of the stack that is deployed next.
    assert "TableName" not in properties
    assert "BucketName" not in RESOURCES["Bucket"]["Properties"]
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
        if "Ref" in dimension["Value"]
    }
    functions = set(of_type("AWS::Serverless::Function"))
    assert watched == functions | {"WebSocketApi"}
    assert RESOURCES["LedgerThrottles"]["Properties"]["Dimensions"][0]["Value"] == TABLE
    for properties in alarms.values():
        assert properties["AlarmActions"]


def test_the_http_api_may_do_to_the_log_what_the_gateway_does_and_is_told_the_same():
    def rights(of: str) -> dict[str, Any]:
        return {
            sid: statement for role, sid, statement in allowed() if role == of and sid != "Logs"
        }

    ours, theirs = rights("HttpRole"), rights("GatewayRole")
    assert theirs.pop("Spilled")
    assert ours == theirs
    assert subbed(ours["Objects"]["Resource"]).endswith("/log/*")
    told = [
        RESOURCES[name]["Properties"]["Environment"]["Variables"]
        for name in ("HttpFunction", "GatewayFunction")
    ]
    of_http_only = {"SAMSA_SCHEMA_REGISTRY": {"Ref": "SchemaRegistry"}}
    assert told[0] == {**told[1], **of_http_only}


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


def test_what_was_swept_stays_as_long_as_the_table_can_be_restored_to_before():
    """Else a restored index would name objects that are gone."""
    bucket, table = (RESOURCES[name]["Properties"] for name in ("Bucket", "Table"))
    assert bucket["VersioningConfiguration"] == {"Status": "Enabled"}
    days = table["PointInTimeRecoverySpecification"]["RecoveryPeriodInDays"]
    assert days == {"Ref": "RecoveryDays"}
    rules = bucket["LifecycleConfiguration"]["Rules"]
    log_rules = [
        rule for rule in rules if rule.get("Prefix", "").startswith("log") or "Prefix" not in rule
    ]
    [swept] = [rule for rule in log_rules if "NoncurrentVersionExpiration" in rule]
    assert swept["NoncurrentVersionExpiration"] == {"NoncurrentDays": days}
    assert swept["ExpiredObjectDeleteMarker"] is True


def test_a_table_and_a_bucket_that_were_left_can_be_taken_over():
    for name, condition in (("Table", "MakesTable"), ("Bucket", "MakesBucket")):
        assert RESOURCES[name]["Condition"] == condition
        given = TEMPLATE["Parameters"][f"Existing{name}"]
        assert given["Default"] == ""
        assert TEMPLATE["Conditions"][condition] == {"Fn::Equals": [{"Ref": f"Existing{name}"}, ""]}
    told = TEMPLATE["Globals"]["Function"]["Environment"]["Variables"]
    assert told["SAMSA_LEDGER"]["Fn::Sub"][1] == {"Used": TABLE}
    assert told["SAMSA_OBJECTS"]["Fn::Sub"][1] == {"Used": BUCKET}
    # Nothing else may name what is perhaps not made.
    named = {"Ref": "Table"}, {"Ref": "Bucket"}
    for text in strings({name: r for name, r in TEMPLATE.items() if name != "Conditions"}):
        assert not re.search(r"\$\{(Table|Bucket)\b", text), text
        assert not re.fullmatch(r"(Table|Bucket)\.Arn", text), text
    assert str(TEMPLATE).count(str(named[0])) == str(TEMPLATE).count(str(TABLE))
    assert str(TEMPLATE).count(str(named[1])) == str(TEMPLATE).count(str(BUCKET))


def test_one_round_of_the_janitor_ends_before_the_next_begins_and_none_is_repeated():
    janitor = RESOURCES["JanitorFunction"]["Properties"]
    schedules = TEMPLATE["Parameters"]["JanitorSchedule"]
    units = {"minutes": 60, "hour": 3600}
    for schedule in schedules["AllowedValues"]:
        count, unit = re.fullmatch(r"rate\((\d+) (minutes|hour)\)", schedule).groups()
        assert janitor["Timeout"] < int(count) * units[unit]
    assert schedules["Default"] in schedules["AllowedValues"]
    assert janitor["ReservedConcurrentExecutions"] == 1
    assert janitor["EventInvokeConfig"]["MaximumRetryAttempts"] == 0
    for event in janitor["Events"].values():
        assert event["Properties"]["RetryPolicy"]["MaximumRetryAttempts"] == 0


def test_lambda_itself_logs_only_what_is_wrong():
    assert TEMPLATE["Globals"]["Function"]["LoggingConfig"]["SystemLogLevel"] == "WARN"


def test_callers_are_told_which_resources_their_policies_must_allow():
    outputs = TEMPLATE["Outputs"]
    begin = "arn:${AWS::Partition}:execute-api:${AWS::Region}:${AWS::AccountId}:"
    assert (
        outputs["ConnectResource"]["Value"]["Fn::Sub"] == f"{begin}${{WebSocketApi}}/live/$connect"
    )
    assert outputs["HttpResource"]["Value"]["Fn::Sub"] == f"{begin}${{HttpApi}}/$default/*/*"


def test_no_name_of_a_partition_of_aws_or_of_its_domain_is_written_out():
    """China and GovCloud have others. Services' own names are the same everywhere."""
    for text in strings(TEMPLATE):
        assert "arn:aws" not in text, text
        assert re.fullmatch(r"[a-z]+\.amazonaws\.com", text) or "amazonaws" not in text, text
