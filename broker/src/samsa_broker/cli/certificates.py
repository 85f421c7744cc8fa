"""A certificate authority of one's own, and what it signs: for a laptop, and for tests."""

from __future__ import annotations

import os
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
)
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

if TYPE_CHECKING:
    from collections.abc import Sequence

YEARS = timedelta(days=3650)
CLOCKS_DIFFER = timedelta(days=1)


class Pem(NamedTuple):
    certificate: bytes
    key: bytes

    def write(self, certificate: Path, key: Path) -> None:
        write_private(key, self.key)
        write_private(certificate, self.certificate)


def write_private(path: Path, content: bytes) -> None:
    """For the owner's eyes only, from the first byte on. Replaces what is there."""
    fresh = path.with_name(f"{path.name}.new")
    fresh.unlink(missing_ok=True)
    with os.fdopen(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        file.write(content)
    fresh.replace(path)


class Authority:
    """Its key is in memory only, and lost with it: what it has signed stays valid."""

    def __init__(self, name: str) -> None:
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._name = _named(name)
        self._identifier = x509.SubjectKeyIdentifier.from_public_key(self._key.public_key())
        usage = _usage(signs_certificates=True)
        self._certificate = (
            _dated(self._name, self._name, self._key)
            .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
            .add_extension(usage, critical=True)
            .add_extension(self._identifier, critical=False)
            .sign(self._key, hashes.SHA256())
        )

    @property
    def certificate(self) -> bytes:
        return self._certificate.public_bytes(Encoding.PEM)

    def server(self, hosts: Sequence[str]) -> Pem:
        names = x509.SubjectAlternativeName([_alternative(host) for host in hosts])
        return self._signed(_named(hosts[0]), ExtendedKeyUsageOID.SERVER_AUTH, names)

    def client(self, common_name: str, organization: str | None = None) -> Pem:
        return self._signed(_named(common_name, organization), ExtendedKeyUsageOID.CLIENT_AUTH)

    def _signed(
        self,
        name: x509.Name,
        purpose: x509.ObjectIdentifier,
        names: x509.SubjectAlternativeName | None = None,
    ) -> Pem:
        key = ec.generate_private_key(ec.SECP256R1())
        issuer = x509.AuthorityKeyIdentifier.from_issuer_subject_key_identifier(self._identifier)
        made = (
            _dated(name, self._name, key)
            .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
            .add_extension(_usage(signs_certificates=False), critical=True)
            .add_extension(x509.ExtendedKeyUsage([purpose]), critical=False)
            .add_extension(issuer, critical=False)
        )
        if names is not None:
            made = made.add_extension(names, critical=False)
        signed = made.sign(self._key, hashes.SHA256())
        return Pem(
            signed.public_bytes(Encoding.PEM),
            key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()),
        )


def _dated(
    subject: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePrivateKey
) -> x509.CertificateBuilder:
    now = datetime.now(UTC)
    return x509.CertificateBuilder(
        issuer_name=issuer,
        subject_name=subject,
        public_key=key.public_key(),
        serial_number=x509.random_serial_number(),
        not_valid_before=now - CLOCKS_DIFFER,
        not_valid_after=now + YEARS,
    )


def _named(common_name: str, organization: str | None = None) -> x509.Name:
    parts = [(NameOID.ORGANIZATION_NAME, organization), (NameOID.COMMON_NAME, common_name)]
    return x509.Name([x509.NameAttribute(kind, text) for kind, text in parts if text is not None])


def _alternative(host: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ip_address(host))
    except ValueError:
        return x509.DNSName(host)


def _usage(*, signs_certificates: bool) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=True,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        key_cert_sign=signs_certificates,
        crl_sign=signs_certificates,
        encipher_only=False,
        decipher_only=False,
    )
