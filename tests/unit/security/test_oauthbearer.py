"""OAUTHBEARER: Apache Kafka's reading of messages, and tokens that must not be taken."""

import json
from base64 import urlsafe_b64encode

import pytest
from hypothesis import given
from hypothesis import strategies as st
from unit.security.given import PATIENT
from unit.security.kafka import answers

from samsa.security import oauthbearer
from samsa.security.oauthbearer import InvalidToken, OAuthBearerExchange, TokenRules, validated
from samsa.security.principals import Principal
from samsa.security.sasl import Authenticated, Challenge, LoginRefused
from samsa.wire.apis import APIS, ApiKey
from samsa.wire.messages import sasl_authenticate

NOW_MS = 1_800_000_000_000
NOW = NOW_MS // 1000
CLAIMS = {
    "iss": "https://issuer.example",
    "aud": "kafka",
    "sub": "alice",
    "scope": "read write",
    "iat": NOW - 10,
    "exp": NOW + 600,
}


def part(value) -> str:
    text = value if isinstance(value, bytes) else json.dumps(value).encode()
    return urlsafe_b64encode(text).rstrip(b"=").decode()


def jwt(claims=CLAIMS, header=None, **changed) -> str:
    claims = {key: value for key, value in (claims | changed).items() if value is not None}
    return f"{part(header or {'alg': 'RS256', 'kid': '1'})}.{part(claims)}.c2ln"


RULES = TokenRules(
    verify=lambda token, header: token.endswith(".c2ln"),
    issuer="https://issuer.example",
    audiences=frozenset({"kafka", "other"}),
    scopes=frozenset({"read"}),
)


def message(token: str, acts_as: str = "") -> bytes:
    return f"n,{acts_as and 'a=' + acts_as},\1auth=Bearer {token}\1\1".encode()


def exchange(rules: TokenRules = RULES) -> OAuthBearerExchange:
    return OAuthBearerExchange(rules, lambda: NOW_MS)


def test_a_good_token_logs_in_until_it_expires():
    result = exchange().step(message(jwt()))
    assert result == Authenticated(Principal("User", "alice"), b"", NOW_MS + 600_000)


@pytest.mark.parametrize("acts_as", ["root", "r" * 50_000])
def test_the_refusal_to_act_as_another_fits_into_a_string_of_every_version(acts_as: str):
    result = exchange().step(message(jwt(sub="a" * 5_000), acts_as))
    assert isinstance(result, LoginRefused)
    told = result.message("OAUTHBEARER")
    assert acts_as[:100] in told
    row = sasl_authenticate.RESPONSE(error_code=58, error_message=told)
    assert b"".join(map(bytes, APIS[ApiKey.SASL_AUTHENTICATE].response.encode(0, row)))


def test_a_name_that_is_not_unicode_text_is_refused():
    with pytest.raises(InvalidToken, match="sub"):
        validated(jwt(sub="alice\ud800"), RULES, NOW_MS)


def test_first_messages_are_read_as_by_kafka():
    wrong = []
    for text, expected in answers("oauth"):
        try:
            read = list(oauthbearer.first_message(text.encode()))
        except oauthbearer._Malformed:
            read = None
        if read != expected:
            wrong.append((text, read, expected))
    assert not wrong


MANY_DIGITS = b'{"exp":' + b"9" * 9000 + b"}"
REFUSED = {
    "expired": jwt(exp=NOW - 31),
    "just expired": jwt(exp=NOW - 30),
    "without an end": jwt(exp=None),
    "an end that is no number": jwt(exp="tomorrow"),
    "an end that is a truth": jwt(exp=True),
    "an endless one": jwt(exp=1e300),
    "a negative one": jwt(exp=-1),
    "not yet": jwt(nbf=NOW + 31),
    "issued in the future": jwt(iat=NOW + 31),
    "a beginning that is a truth": jwt(nbf=True),
    "another issuer": jwt(iss="https://evil.example"),
    "without an issuer": jwt(iss=None),
    "an issuer that is a list": jwt(iss=["https://issuer.example"]),
    "another audience": jwt(aud="billing"),
    "without an audience": jwt(aud=None),
    "two other audiences": jwt(aud=["billing", 7]),
    "audiences in one string": jwt(aud="kafka other"),
    "without the scope": jwt(scope="write"),
    "without scopes": jwt(scope=None),
    "without a name": jwt(sub=None),
    "a name of blanks": jwt(sub="  "),
    "a name that is a number": jwt(sub=7),
    "alg none": jwt(header={"alg": "none"}),
    "alg None": jwt(header={"alg": "None"}),
    "alg null": jwt(header={"alg": None}),
    "no alg": jwt(header={"kid": "1"}),
    "a list of algs": jwt(header={"alg": ["RS256"]}),
    "symmetric": jwt(header={"alg": "HS256"}),
    "symmetric, with small letters": jwt(header={"alg": "hs512"}),
    "a critical extension": jwt(header={"alg": "RS256", "crit": ["b64"], "b64": False}),
    "a wrong signature": jwt() + "x",
    "no signature": jwt().rsplit(".", 1)[0] + ".",
    "two parts": "a.b",
    "five parts": "a.b.c.d.e",
    "not JSON": f"{part(b'{')}.{part(CLAIMS)}.c2ln",
    "a header that is a list": f"{part([])}.{part(CLAIMS)}.c2ln",
    "claims that are a number": f"{part({'alg': 'RS256'})}.{part(7)}.c2ln",
    "JSON that is deep": f"{part(b'[' * 10_000)}.{part(CLAIMS)}.c2ln",
    "a number of many digits": f"{part({'alg': 'RS256'})}.{part(MANY_DIGITS)}.c2ln",
    "not UTF-8": f"{part(bytes([0xFF, 0xFE]))}.{part(CLAIMS)}.c2ln",
    "not Base64": f"a.{part(CLAIMS)}.c2ln",
    "letters between": f"~~~~{jwt()}",
    "huge": jwt(padding="x" * 20_000),
}


@pytest.mark.parametrize("why", REFUSED)
def test_a_bad_token_is_answered_with_an_error_and_then_refused(why):
    server = exchange()
    assert server.step(message(REFUSED[why])) == Challenge(b'{"status":"invalid_token"}')
    last = server.step(b"\1")
    assert isinstance(last, LoginRefused)
    assert last.message("OAUTHBEARER") == '{"status":"invalid_token"}'


@pytest.mark.parametrize(
    "token",
    [
        jwt(exp=NOW - 29),
        jwt(nbf=NOW + 29),
        jwt(iat=None),
        jwt(exp=NOW + 0.5),
        jwt(aud=["billing", "kafka"]),
        jwt(scope=["read", "x"]),
        jwt(header={"alg": "ES256"}),
    ],
)
def test_clocks_that_differ_a_little_and_lists_are_taken(token):
    assert isinstance(exchange().step(message(token)), Authenticated)


def test_the_name_and_scopes_may_be_in_other_claims():
    rules = RULES._replace(principal_claim="azp", scope_claim="scp")
    token = validated(jwt(azp="app", scp=["read"]), rules, NOW_MS)
    assert (token.name, token.scopes) == ("app", frozenset({"read"}))


def test_a_symmetric_algorithm_is_refused_before_any_key_is_looked_for():
    rules = RULES._replace(verify=lambda *_: pytest.fail("a key was looked for"))
    for name in ("alg none", "symmetric", "huge", "a critical extension"):
        with pytest.raises(InvalidToken):
            validated(REFUSED[name], rules, NOW_MS)


def test_claims_are_not_believed_before_the_signature():
    with pytest.raises(InvalidToken, match="signature"):
        validated(jwt(exp=0) + "x", RULES, NOW_MS)


def test_acting_as_another_is_refused():
    assert isinstance(exchange().step(message(jwt(), "alice")), Authenticated)
    assert isinstance(exchange().step(message(jwt(), "root")), LoginRefused)


def test_a_second_try_in_one_exchange_is_refused():
    server = exchange()
    server.step(message(jwt(sub=None)))
    assert isinstance(server.step(message(jwt())), LoginRefused)
    server = exchange()
    server.step(message(jwt()))
    assert isinstance(server.step(message(jwt())), LoginRefused)
    assert isinstance(exchange().step(b"x" * 100_000), LoginRefused)


@PATIENT
@given(st.one_of(st.binary(max_size=60), st.text().map(lambda text: message(text, "a"))))
def test_no_bytes_log_in_or_raise(token):
    assert not isinstance(exchange().step(token), Authenticated)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=5,
)


@PATIENT
@given(
    st.dictionaries(st.sampled_from([*CLAIMS, "nbf"]), json_values),
    st.dictionaries(st.sampled_from(["alg", "kid", "crit"]), json_values, max_size=2),
)
def test_no_claims_of_other_kinds_raise(claims, header):
    exchange().step(message(jwt(CLAIMS | claims, {"alg": "RS256"} | header)))
