"""The versions that Apache Kafka 4.3 offers, by key, and where and why ours differ."""

from property.wire.kafka_jar import every_definition

from samsa.wire.apis import APIS, ApiKey

Versions = dict[int, tuple[int, int]]
TELEMETRY = {71, 72}
"""Kafka offers these only with a plug-in that takes what clients push."""
PRODUCE_BACK_TO = 0
"""Kafka offers Produce from 0 on although it reads it from 3 on: librdkafka asks for that."""

OLDER = "clients of Kafka 0.8 to 3: versions that Kafka 4 dropped"
SHARE = "there are no share groups"
STREAMS = "there are no streams groups"
TOKENS = "there are no delegation tokens"
VOTERS = "there are no voters: the quorum is node 0"
WITHOUT_STORE = "there is nothing that would hold what it sets"
DIFFERENT: dict[int, str] = {
    ApiKey.FETCH: OLDER,
    ApiKey.LIST_OFFSETS: OLDER,
    ApiKey.OFFSET_COMMIT: OLDER,
    ApiKey.OFFSET_FETCH: OLDER,
    ApiKey.CREATE_TOPICS: OLDER,
    ApiKey.DELETE_TOPICS: OLDER,
    ApiKey.OFFSET_FOR_LEADER_EPOCH: OLDER,
    ApiKey.DESCRIBE_CONFIGS: OLDER,
    ApiKey.ALTER_REPLICA_LOG_DIRS: OLDER,
    ApiKey.DESCRIBE_LOG_DIRS: OLDER,
    **dict.fromkeys(range(38, 42), TOKENS),
    64: WITHOUT_STORE,  # UnregisterBroker
    **dict.fromkeys((76, 77, 78, 79, 83, 84, 85, 86, 87, 90, 91, 92), SHARE),
    **dict.fromkeys((80, 81), VOTERS),
    **dict.fromkeys((88, 89), STREAMS),
}


def offered() -> list[dict]:
    """Kafka's definitions of the requests that its brokers take from clients."""
    asked = [one for one in every_definition().values() if one["type"] == "request"]
    return [one for one in asked if "broker" in one.get("listeners", ())]


def kafkas() -> Versions:
    found = {one["apiKey"]: _range(one) for one in offered() if one["apiKey"] not in TELEMETRY}
    return found | {ApiKey.PRODUCE: (PRODUCE_BACK_TO, found[ApiKey.PRODUCE][1])}


def _range(request: dict) -> tuple[int, int]:
    first, _, last = request["validVersions"].partition("-")
    return int(first), int(last or first) - bool(request.get("latestVersionUnstable"))


def ours() -> Versions:
    return {key: (api.versions[0], api.versions[-1]) for key, api in APIS.items()}


def differences(one: Versions, other: Versions) -> set[int]:
    return {key for key in one.keys() | other.keys() if one.get(key) != other.get(key)}
