"""Tokens that a test signs, and the keys that belong to them, as an issuer publishes them."""

import base64
import json
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from joserfc import jws
from joserfc.jwk import ECKey, KeySet, OctKey, RSAKey
from support.serving import serving

ISSUER = "https://issuer.example"
AUDIENCE = "samsa"


class Issuer:
    def __init__(self) -> None:
        self.keys: list[RSAKey | ECKey] = [self.new_key("one")]

    def new_key(self, kid: str) -> RSAKey | ECKey:
        return ECKey.generate_key("P-256", {"kid": kid, "use": "sig", "alg": "ES256"})

    @property
    def jwks(self) -> bytes:
        """With a symmetric key among them, which is no key to check a token with."""
        public: dict[str, Any] = dict(KeySet(list(self.keys)).as_dict(private=False))
        secret = OctKey.generate_key(256, {"kid": "secret"}).as_dict(private=True)
        return json.dumps({"keys": [*public["keys"], secret, {"kty": "unheard of"}]}).encode()

    def claims(self, **more: Any) -> dict[str, Any]:
        now = int(time.time())
        said = {"iss": ISSUER, "aud": AUDIENCE, "sub": "alice", "iat": now, "exp": now + 300}
        return {name: value for name, value in {**said, **more}.items() if value is not None}

    def token(
        self,
        key: Any = None,
        alg: str = "ES256",
        header: Mapping[str, Any] | None = None,
        **claims: Any,
    ) -> str:
        signer = key or self.keys[0]
        said = {"alg": alg, "kid": signer.kid, **(header or {})}
        registry = jws.JWSRegistry(algorithms=[alg], strict_check_header=False)
        payload = json.dumps(self.claims(**claims))
        return jws.serialize_compact(said, payload, signer, registry=registry)


def part(value: Any) -> str:
    return base64.urlsafe_b64encode(json.dumps(value).encode()).decode().rstrip("=")


def first_message(token: str) -> bytes:
    return f"n,,\x01auth=Bearer {token}\x01\x01".encode()


@contextmanager
def published(issuer: Issuer) -> Iterator[str]:
    """The URL of the issuer's keys."""

    class Keys(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            content = issuer.jwks
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_: Any) -> None: ...

    server = ThreadingHTTPServer(("127.0.0.1", 0), Keys)
    with serving(server):
        yield f"http://127.0.0.1:{server.server_port}/jwks"
