"""What Kafka answers where nothing is set up: no authorizer, quotas, credentials, transactions."""

import pytest
from server.peer import Peer
from server.process import Samsa

from samsa.wire.apis import APIS, ApiKey
from samsa.wire.errors import ErrorCode
from samsa.wire.messages import (
    api_versions,
    create_acls,
    delete_acls,
    describe_acls,
    describe_client_quotas,
    describe_configs,
    describe_transactions,
    describe_user_scram_credentials,
    list_transactions,
    sasl_handshake,
)

DISABLED = ErrorCode.SECURITY_DISABLED
GROUP = 32


@pytest.mark.parametrize("version", APIS[ApiKey.DESCRIBE_ACLS].versions)
def test_acls_are_disabled_and_each_creation_and_filter_is_told(peer: Peer, version: int):
    described = peer.ask(ApiKey.DESCRIBE_ACLS, version, describe_acls.REQUEST())
    assert (described.error_code, described.resources) == (DISABLED, [])
    creations = create_acls.REQUEST(creations=[create_acls.CREATION()] * 2)
    created = peer.ask(ApiKey.CREATE_ACLS, version, creations).results
    assert [one.error_code for one in created] == [DISABLED] * 2
    filters = delete_acls.REQUEST(filters=[delete_acls.FILTER()] * 3)
    deleted = peer.ask(ApiKey.DELETE_ACLS, version, filters).filter_results
    assert [one.error_code for one in deleted] == [DISABLED] * 3


def test_there_are_no_quotas_no_credentials_and_no_such_transactions(peer: Peer):
    quotas = peer.ask(ApiKey.DESCRIBE_CLIENT_QUOTAS, 1, describe_client_quotas.REQUEST())
    assert (quotas.error_code, quotas.entries) == (ErrorCode.NONE, [])
    everyone = describe_user_scram_credentials.REQUEST(users=None)
    told = peer.ask(ApiKey.DESCRIBE_USER_SCRAM_CREDENTIALS, 0, everyone)
    assert (told.error_code, told.results) == (ErrorCode.NONE, [])
    row = list_transactions.REQUEST(transactional_id_pattern="nobody.*")
    listed = peer.ask(ApiKey.LIST_TRANSACTIONS, 2, row)
    assert (listed.error_code, listed.transaction_states) == (ErrorCode.NONE, [])


def test_a_named_user_and_a_named_transaction_are_not_found(peer: Peer):
    alice = describe_user_scram_credentials.USER(name="alice")
    named = describe_user_scram_credentials.REQUEST(users=[alice])
    (user,) = peer.ask(ApiKey.DESCRIBE_USER_SCRAM_CREDENTIALS, 0, named).results
    assert (user.user, user.error_code) == ("alice", ErrorCode.RESOURCE_NOT_FOUND)
    ids = describe_transactions.REQUEST(transactional_ids=["mine"])
    (state,) = peer.ask(ApiKey.DESCRIBE_TRANSACTIONS, 0, ids).transaction_states
    assert state.error_code == ErrorCode.TRANSACTIONAL_ID_NOT_FOUND


def test_a_client_that_begins_with_sasl_is_told_that_there_is_none(peer: Peer):
    told = peer.ask(ApiKey.SASL_HANDSHAKE, 1, sasl_handshake.REQUEST(mechanism="PLAIN"))
    assert (told.error_code, told.mechanisms) == (ErrorCode.ILLEGAL_SASL_STATE, [])


def test_a_group_has_the_configs_that_the_broker_was_started_with(samsa: Samsa, peer: Peer):
    asked = describe_configs.RESOURCE(
        resource_type=GROUP, resource_name="any", configuration_keys=None
    )
    row = describe_configs.REQUEST(resources=[asked])
    (result,) = peer.ask(ApiKey.DESCRIBE_CONFIGS, 4, row).results
    found = {config.name: config.value for config in result.configs}
    assert found["consumer.session.timeout.ms"] == "45000"
    assert {name.partition(".")[0] for name in found} == {"consumer", "share", "streams"}


def test_the_features_say_which_kafka_this_is_to_its_clients(peer: Peer):
    row = api_versions.REQUEST(client_software_name="test", client_software_version="1")
    for version in (3, 4):
        told = peer.ask(ApiKey.API_VERSIONS, version, row)
        levels = {one.name: one.max_version_level for one in told.finalized_features}
        assert levels == {"metadata.version": 30, "group.version": 1, "transaction.version": 2}
        # Version 3 of old Java clients does not read a feature that begins at 0.
        lowest = {one.name: one.min_version for one in told.supported_features}
        assert ("group.version" in lowest) == (version == 4)
        assert told.finalized_features_epoch == 0
