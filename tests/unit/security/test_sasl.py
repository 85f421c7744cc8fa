"""The exchange of each mechanism that is offered."""

import pytest
from unit.security.given import made_up

from samsa.security.oauthbearer import OAuthBearerExchange, TokenRules
from samsa.security.plain import PlainExchange
from samsa.security.sasl import MECHANISMS, OAUTHBEARER, PLAIN, LoginRefused, Sasl
from samsa.security.scram import ScramExchange, ScramMechanism

SASL = Sasl(MECHANISMS, lambda *_: None, made_up, TokenRules(lambda *_: False))


@pytest.mark.parametrize(
    ("mechanism", "kind"),
    [
        ("PLAIN", PlainExchange),
        ("SCRAM-SHA-256", ScramExchange),
        ("SCRAM-SHA-512", ScramExchange),
        ("OAUTHBEARER", OAuthBearerExchange),
    ],
)
def test_each_mechanism_has_its_exchange(mechanism, kind):
    assert isinstance(SASL.begin(mechanism, "nonce", lambda: 0), kind)


@pytest.mark.parametrize("mechanism", ["GSSAPI", "plain", "", "AWS_MSK_IAM", "SCRAM-SHA-1"])
def test_other_mechanisms_have_none(mechanism):
    assert SASL.begin(mechanism, "nonce", lambda: 0) is None


def test_a_mechanism_that_is_not_offered_is_not_begun():
    assert SASL._replace(mechanisms=(PLAIN,)).begin("SCRAM-SHA-256", "n", lambda: 0) is None
    with pytest.raises(ValueError, match="OAUTHBEARER"):
        SASL._replace(token_rules=None).begin(OAUTHBEARER, "n", lambda: 0)


def test_each_scram_asks_for_the_credential_of_its_own_mechanism():
    asked = []

    def credential_of(user, mechanism):
        asked.append((user, mechanism))

    for mechanism in ("SCRAM-SHA-256", "SCRAM-SHA-512"):
        SASL._replace(credential_of=credential_of).begin(mechanism, "n", lambda: 0).step(
            b"n,,n=alice,r=x"
        )
    assert asked == [
        ("alice", ScramMechanism.SCRAM_SHA_256),
        ("alice", ScramMechanism.SCRAM_SHA_512),
    ]


def test_a_failed_re_authentication_is_named_so():
    assert LoginRefused("secret").message("PLAIN", again=True) == (
        "Authentication failed during re-authentication due to invalid credentials "
        "with SASL mechanism PLAIN"
    )
