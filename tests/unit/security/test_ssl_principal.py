"""Names of certificates as Java writes them, and the rules as Apache Kafka applies them."""

import datetime
from base64 import b64decode

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding
from cryptography.x509.oid import NameOID
from hypothesis import given
from hypothesis import strategies as st
from unit.security.given import PATIENT
from unit.security.kafka import answers

from samsa.security.principals import Principal
from samsa.security.ssl_principal import PrincipalMapping, distinguished_name


def value(tag: int, content: bytes) -> bytes:
    size = len(content)
    if size < 128:
        return bytes([tag, size]) + content
    length = size.to_bytes(2, "big")
    return bytes([tag, 0x82]) + length + content


def certificate(subject: bytes, with_version: bool = True) -> bytes:
    """As much of a certificate as is read: what precedes the subject is empty."""
    empty = value(0x30, b"")
    version = value(0xA0, value(0x02, b"\2")) if with_version else b""
    fields = version + value(0x02, b"\1") + empty * 3 + subject + empty
    return value(0x30, value(0x30, fields) + empty + value(0x03, b"\0"))


@pytest.mark.parametrize(("subject", "name"), answers("names"), ids=lambda item: item[:30])
def test_a_name_is_written_as_java_writes_it(subject, name):
    assert distinguished_name(certificate(b64decode(subject))) == name
    assert distinguished_name(certificate(b64decode(subject), with_version=False)) == name


def test_a_name_that_is_not_utf_8_is_refused():
    attribute = value(0x30, value(0x06, b"\x55\x04\x03") + value(0x14, b"\xe4"))
    with pytest.raises(ValueError, match="not an X"):
        distinguished_name(certificate(value(0x30, value(0x31, attribute))))


def real_certificate() -> bytes:
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name(
        [
            x509.NameAttribute(NameOID.COUNTRY_NAME, "CZ"),
            x509.NameAttribute(NameOID.ORGANIZATION_NAME, "Sales, Inc"),
            x509.NameAttribute(NameOID.COMMON_NAME, "Alice"),
        ]
    )
    issuer = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "issuer")])
    start = datetime.datetime(2026, 1, 1, tzinfo=datetime.UTC)
    builder = x509.CertificateBuilder(issuer, subject, key.public_key(), 7, start, start)
    return builder.sign(key, hashes.SHA256()).public_bytes(Encoding.DER)


def test_the_subject_of_a_real_certificate_becomes_a_principal():
    der = real_certificate()
    assert distinguished_name(der) == "CN=Alice,O=Sales\\, Inc,C=CZ"
    mapping = PrincipalMapping("RULE:^CN=(.*?),.*$/$1/L,DEFAULT")
    assert mapping.principal(der) == Principal("User", "alice")
    assert PrincipalMapping("RULE:^OU=.*$/x/").principal(der) is None


@pytest.mark.parametrize("row", answers("mapping"), ids=lambda row: row["rules"][:40])
def test_rules_are_read_and_applied_as_by_kafka(row):
    if not row["valid"]:
        with pytest.raises(ValueError, match="Invalid"):
            PrincipalMapping(row["rules"])
        return
    mapping = PrincipalMapping(row["rules"])
    assert [[name, mapping.name(name)] for name, _ in row["names"]] == row["names"]


@pytest.mark.parametrize("rules", ["RULE:^CN=.*$/$1/", "RULE:(.*)/$/", "RULE:(.*)/${no}/"])
def test_a_replacement_that_can_never_be_made_is_refused_at_once(rules):
    with pytest.raises(ValueError, match="Invalid replacement"):
        PrincipalMapping(rules)


def test_what_is_no_certificate_is_refused():
    der = real_certificate()
    endless = b"\x30\x84\xff\xff\xff\xff"
    for bad in (b"", b"\x30", b"\x30\x80", endless, der[:-1], der[:40], der + b"x"):
        with pytest.raises(ValueError, match="not an X"):
            distinguished_name(bad)


@PATIENT
@given(st.binary(max_size=60))
def test_no_bytes_raise_anything_else(noise):
    for der in (noise, certificate(noise), certificate(value(0x30, value(0x31, noise)))):
        try:
            distinguished_name(der)
        except ValueError as error:
            assert str(error) == "not an X.509 certificate"  # noqa: PT017
