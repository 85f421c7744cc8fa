"""Made-up credentials of users that do not exist, so that their logins look like any others.

No password fits a stand-in. Its salt is the same every time, and in every process that has the same
secret. What else a client sees before it has proved anything, the length and the letters of the
salt and the iterations, and the time that a password takes, is that of a credential that exists.
"""

import hmac
import re
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from hashlib import shake_256
from typing import NamedTuple

from .scram import FEWEST_ITERATIONS, ScramCredential, ScramMechanism

SALT_BYTES = 24
"""Of the salts that Samsa makes."""
PLAIN = "PLAIN"
_LETTERS = b"0123456789abcdefghijklmnopqrstuvwxyz"
_TO_LETTERS = bytes(_LETTERS[byte % len(_LETTERS)] for byte in range(256))
_TEXT = re.compile(rb"[0-9a-z]{16,}")


class CredentialShape(NamedTuple):
    """What a client can tell of a credential without its password."""

    mechanism: ScramMechanism
    salt_bytes: int = SALT_BYTES
    iterations: int = FEWEST_ITERATIONS
    is_text: bool = False
    """Whether the salt is made of digits and small letters, as by Apache Kafka's tools."""

    @classmethod
    def of(cls, credential: ScramCredential) -> "CredentialShape":
        salt = credential.salt
        is_text = _TEXT.fullmatch(salt) is not None
        return cls(credential.mechanism, len(salt), credential.iterations, is_text)


Shapes = Mapping[str, Sequence[CredentialShape]]
"""Of present credentials, by SASL mechanism."""
_OURS = {each.sasl_name: CredentialShape(each) for each in ScramMechanism if each}
_OURS[PLAIN] = CredentialShape(ScramMechanism.SCRAM_SHA_512)


def shapes_of(held: Collection[tuple[str, ScramCredential]]) -> Shapes:
    """Of users and their credentials."""
    best = ScramMechanism.SCRAM_SHA_512
    have_best = {user for user, credential in held if credential.mechanism is best}
    found: dict[str, set[CredentialShape]] = defaultdict(set)
    for user, credential in held:
        shape = CredentialShape.of(credential)
        found[shape.mechanism.sasl_name].add(shape)
        # As PLAIN chooses: see credential_for_plain.
        if shape.mechanism is best or user not in have_best:
            found[PLAIN].add(shape)
    return {name: tuple(sorted(shapes)) for name, shapes in found.items()}


def stand_in(user: str, sasl_name: str, shapes: Shapes, secret: bytes) -> ScramCredential:
    seed = hmac.digest(secret, f"{sasl_name} {user}".encode(), "sha512")

    def rank(shape: CredentialShape) -> bytes:
        """So that a shape that comes or goes changes few stand-ins."""
        return hmac.digest(seed, b"%d %d %d %d" % shape, "sha512")

    known = shapes.get(sasl_name) or (_OURS[sasl_name],)
    shape = known[0] if len(known) == 1 else max(known, key=rank)
    salt = shake_256(b"salt" + seed).digest(shape.salt_bytes)
    if shape.is_text:
        salt = salt.translate(_TO_LETTERS)
    size = shape.mechanism.digest_bytes
    return ScramCredential(salt, bytes(size), bytes(size), shape.iterations, shape.mechanism)
