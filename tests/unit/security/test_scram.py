"""SCRAM: the vectors of its RFCs, Apache Kafka's own numbers, and clients that lie."""

import hashlib
import hmac
from base64 import b64decode, b64encode

import pytest
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.hmac import HMAC
from cryptography.hazmat.primitives.kdf.pbkdf2 import PBKDF2HMAC
from hypothesis import given
from hypothesis import strategies as st
from unit.security.given import PATIENT, made_up
from unit.security.kafka import answers

from samsa.security import scram
from samsa.security.principals import Principal
from samsa.security.sasl import Authenticated, Challenge, LoginRefused
from samsa.security.scram import (
    ScramCredential,
    ScramExchange,
    ScramMechanism,
    problem_with_credential,
    salted_password,
)

SHA_256, SHA_512 = ScramMechanism.SCRAM_SHA_256, ScramMechanism.SCRAM_SHA_512
CREDENTIAL = {
    mechanism: ScramCredential.from_password("pencil", b"salt" * 4, 4096, mechanism)
    for mechanism in (SHA_256, SHA_512)
}


class Client:
    """A client of SCRAM, written from RFC 5802."""

    def __init__(self, user="alice", password="pencil", mechanism=SHA_256, acts_as="") -> None:
        self.password, self.digest = password, mechanism.digest
        self.header = b"n,%s," % (b"a=" + acts_as.encode() if acts_as else b"")
        self.bare = b"n=%s,r=client-nonce" % user.encode()

    @property
    def first(self) -> bytes:
        return self.header + self.bare

    def final(self, server_first: bytes, **changed: bytes) -> bytes:
        fields = dict(part.split(b"=", 1) for part in server_first.split(b","))
        salt, rounds = b64decode(fields[b"s"]), int(fields[b"i"])
        salted = hashlib.pbkdf2_hmac(self.digest, self.password.encode(), salt, rounds)
        channel = changed.get("channel", b64encode(self.header))
        unproven = b"c=%s,r=%s" % (channel, changed.get("nonce", fields[b"r"]))
        said = b",".join((self.bare, server_first, unproven))
        key = self.hmac(salted, b"Client Key")
        signature = self.hmac(hashlib.new(self.digest, key).digest(), said)
        proof = bytes(a ^ b for a, b in zip(key, signature, strict=True))
        self.expected = b"v=" + b64encode(self.hmac(self.hmac(salted, b"Server Key"), said))
        return unproven + b",p=" + changed.get("proof", b64encode(proof))

    def hmac(self, key: bytes, text: bytes) -> bytes:
        return hmac.new(key, text, self.digest).digest()


def exchange(
    mechanism=SHA_256, users=("alice",), nonce="server-nonce", stand_in_of=made_up
) -> ScramExchange:
    return ScramExchange(
        mechanism,
        lambda user, asked: CREDENTIAL[asked] if user in users else None,
        nonce,
        stand_in_of,
    )


def test_the_vector_of_rfc_7677():
    salt = b64decode("W22ZaJ0SNY7soEsUEjb6gQ==")
    credential = ScramCredential.from_password("pencil", salt, 4096, SHA_256)
    server = ScramExchange(
        SHA_256, lambda *_: credential, "%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0", made_up
    )
    nonce = b"rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0"
    assert server.step(b"n,,n=user,r=rOprNGfwEbeRWgbNEkqO") == Challenge(
        b"r=%s,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096" % nonce
    )
    proof = b"dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ="
    assert server.step(b"c=biws,r=%s,p=%s" % (nonce, proof)) == Authenticated(
        Principal("User", "user"), b"v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4="
    )


@given(
    password=st.text(st.characters(exclude_categories=["Cs"]), min_size=1),
    salt=st.binary(min_size=1),
    rounds=st.integers(1, 64),
)
@pytest.mark.parametrize("mechanism", [SHA_256, SHA_512])
def test_credentials_are_those_that_another_library_makes(mechanism, password, salt, rounds):
    digest = {SHA_256: hashes.SHA256(), SHA_512: hashes.SHA512()}[mechanism]
    salted = PBKDF2HMAC(digest, digest.digest_size, salt, rounds).derive(password.encode())
    client_key, server_key = HMAC(salted, digest), HMAC(salted, digest)
    client_key.update(b"Client Key")
    server_key.update(b"Server Key")
    stored_key = hashes.Hash(digest)
    stored_key.update(client_key.finalize())
    made = ScramCredential.from_password(password, salt, rounds, mechanism)
    assert made[:3] == (salt, stored_key.finalize(), server_key.finalize())


@pytest.mark.parametrize("row", answers("scram"), ids=lambda row: row["password"][:8])
def test_credentials_are_those_that_kafka_makes(row):
    mechanism = ScramMechanism.of(row["mechanism"])
    salt, salted = b64decode(row["salt"]), b64decode(row["salted"])
    assert salted_password(row["password"], salt, 4096, mechanism) == salted
    credential = ScramCredential.from_salted_password(salted, salt, 4096, mechanism)
    assert credential.stored_key == b64decode(row["stored_key"])
    assert credential.server_key == b64decode(row["server_key"])
    assert credential == ScramCredential.from_password(row["password"], salt, 4096, mechanism)
    assert credential.fits(row["password"])
    assert not credential.fits(row["password"] + " ")


@pytest.mark.parametrize("mechanism", [SHA_256, SHA_512])
def test_the_right_password_logs_in_and_the_server_proves_itself(mechanism):
    server, client = exchange(mechanism), Client(mechanism=mechanism)
    last = server.step(client.final(server.step(client.first).data))
    assert last == Authenticated(Principal("User", "alice"), client.expected)


def test_names_with_commas_equals_signs_and_any_letters_are_unescaped():
    for escaped, name in (("a=2Cb=3D2C", "a,b=2C"), ("Žofie", "Žofie")):
        server, client = exchange(users=(name,)), Client(escaped)
        last = server.step(client.final(server.step(client.first).data))
        assert last.principal.name == name


def test_a_wrong_password_is_refused_and_says_no_more_than_a_wrong_user():
    told = []
    for user, password in (("alice", "pencils"), ("mallory", "pencil")):
        server, client = exchange(), Client(user, password)
        last = server.step(client.final(server.step(client.first).data))
        assert isinstance(last, LoginRefused)
        assert user in last.why
        told.append(last.message("SCRAM-SHA-256"))
    assert told[0] == told[1] == (
        "Authentication failed during authentication due to invalid credentials "
        "with SASL mechanism SCRAM-SHA-256"
    )  # fmt: skip


def test_a_user_that_does_not_exist_looks_the_same_every_time():
    first, again = (exchange().step(Client("mallory").first) for _ in range(2))
    other = exchange().step(Client("trudy").first)
    assert first == again != other


def test_a_user_that_does_not_exist_takes_the_same_work(monkeypatch):
    def hashes(user: str) -> int:
        count = 0
        real = scram._hmac

        def counted(*given):
            nonlocal count
            count += 1
            return real(*given)

        server, client = exchange(), Client(user, "wrong")
        final = client.final(server.step(client.first).data)
        with monkeypatch.context() as patch:
            patch.setattr(scram, "_hmac", counted)
            server.step(final)
        return count

    assert hashes("alice") == hashes("mallory") == 2


def test_a_user_that_does_not_exist_is_refused_even_with_a_right_proof():
    server = exchange(stand_in_of=lambda *_: CREDENTIAL[SHA_256])
    client = Client("mallory")
    assert isinstance(server.step(client.final(server.step(client.first).data)), LoginRefused)


def test_no_proof_of_zeros_fits_a_user_that_does_not_exist():
    # Its stored key is all zeros: nothing may hash to that, and if it did, it is refused.
    server, client = exchange(), Client("mallory")
    final = client.final(server.step(client.first).data, proof=b64encode(bytes(32)))
    assert isinstance(server.step(final), LoginRefused)


def begun(**changed: bytes):
    server, client = exchange(), Client()
    return server.step(client.final(server.step(client.first).data, **changed))


@pytest.mark.parametrize(
    "changed",
    [
        {"nonce": b"client-nonce"},
        {"nonce": b"client-nonceserver-nonceX"},
        {"nonce": b"server-nonce"},
        {"nonce": b"client-nonceXserver-nonce"},
        {"channel": b64encode(b"y,,")},
        {"channel": b64encode(b"n,a=bob,")},
        {"channel": b""},
        {"proof": b""},
        {"proof": b"AAAA"},
        {"proof": b64encode(bytes(64))},
        {"proof": b"A==="},
    ],
)
def test_a_final_message_with_something_else_in_it_is_refused(changed):
    assert isinstance(begun(**changed), LoginRefused)


@pytest.mark.parametrize(
    "message",
    [
        b"",
        b"n",
        b"y,,n=alice,r=x",
        b"p=tls-unique,,n=alice,r=x",
        b"n,,n=,r=x",
        b"n,,n=alice,r=",
        b"n,,n=al=ice,r=x",
        b"n,,n=alice,r=with space",
        b"n,,m=ext,n=alice,r=x",
        b"n,,n=alice",
        b"n,,n=alice,r=x,",
        b"n,,n=alice,r=x\n",
        b"n,,n=al\0ice,r=x",
        b"n,,n=\xff\xfe,r=x",
        b"n,,n=" + b"a" * 100_000 + b",r=x",
        b"\x00" * 1000,
    ],
)
def test_a_first_message_that_is_none_is_refused_and_ends_the_exchange(message):
    server = exchange()
    assert isinstance(server.step(message), LoginRefused)
    assert isinstance(server.step(Client().first), LoginRefused)


def test_a_client_that_repeats_its_own_nonce_is_taken_as_by_kafka():
    assert isinstance(begun(nonce=b"client-nonceclient-nonceserver-nonce"), Authenticated)


def test_a_name_stays_on_one_line_of_the_log():
    for user in ("a\nFATAL x", "u" * 5000):
        server, client = exchange(), Client(user)
        why = server.step(client.final(server.step(client.first).data)).why
        assert "\n" not in why
        assert len(why) < 200


def test_acting_as_another_user_is_refused():
    assert isinstance(exchange().step(Client(acts_as="alice").first), Challenge)
    refused = exchange().step(Client(acts_as="root").first)
    assert "authorization id that is different" in refused.message("SCRAM-SHA-256")


def test_messages_out_of_order_and_replayed_ones_are_refused():
    server, client = exchange(), Client()
    reply = server.step(client.first)
    final = client.final(reply.data)
    assert isinstance(server.step(client.first), LoginRefused)
    assert isinstance(server.step(final), LoginRefused)

    server = exchange()
    assert server.step(client.first) == reply
    assert isinstance(server.step(final), Authenticated)
    assert isinstance(server.step(final), LoginRefused)

    another = exchange(nonce="another-nonce")
    another.step(client.first)
    assert isinstance(another.step(final), LoginRefused)


@PATIENT
@given(st.lists(st.binary(max_size=80), max_size=3))
def test_no_bytes_log_in_or_raise(tokens):
    server = exchange()
    for token in tokens:
        assert not isinstance(server.step(token), Authenticated)


@PATIENT
@given(st.data())
def test_no_changed_byte_of_the_final_message_logs_in(data):
    server, client = exchange(), Client()
    final = bytearray(client.final(server.step(client.first).data))
    at = data.draw(st.integers(0, len(final) - 1))
    changed = data.draw(st.integers(0, 255).filter(lambda byte: byte != final[at]))
    final[at] = changed
    result = server.step(bytes(final))
    # Base64 has spare bits at its end: another letter there may mean the same bytes.
    if isinstance(result, Authenticated):
        assert b64decode(bytes(final).rsplit(b"p=", 1)[1]) == b64decode(
            client.final(b"r=client-nonceserver-nonce,s=%s,i=4096"
                         % b64encode(b"salt" * 4)).rsplit(b"p=", 1)[1]
        )  # fmt: skip


def test_kafkas_limits_of_credentials():
    assert problem_with_credential("alice", SHA_256, 4096) is None
    assert problem_with_credential("alice", SHA_512, 16384) is None
    refused = problem_with_credential
    assert refused("", SHA_256, 4096) == ("UNACCEPTABLE_CREDENTIAL", "Username must not be empty")
    assert refused("alice", SHA_256, 4095) == ("UNACCEPTABLE_CREDENTIAL", "Too few iterations")
    assert refused("alice", SHA_256, 16385) == ("UNACCEPTABLE_CREDENTIAL", "Too many iterations")
    unknown = ScramMechanism(9)
    assert refused("alice", unknown, 4096) == (
        "UNSUPPORTED_SASL_MECHANISM",
        "Unknown SCRAM mechanism",
    )


def test_a_credential_shows_no_secret():
    credential = CREDENTIAL[SHA_256]
    assert repr(credential) == str(credential) == "ScramCredential(SCRAM-SHA-256, iterations=4096)"
    assert ScramMechanism.of("PLAIN") is ScramMechanism.UNKNOWN
