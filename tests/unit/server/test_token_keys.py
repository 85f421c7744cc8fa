"""Keys of tokens: which tokens they accept, and when they are read again."""

import json
import threading
import time
from base64 import urlsafe_b64encode
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.request import Request

import pytest
from cryptography.hazmat.primitives.asymmetric.ec import ECDSA
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature
from cryptography.hazmat.primitives.hashes import SHA256
from joserfc.jwk import RSAKey
from support.serving import serving
from support.tokens import Issuer, part, published

from samsa_broker.server import token_keys
from samsa_broker.server.token_keys import REFRESH_S, SELDOM_S, TokenKeys


class Clock:
    now_s = 0.0

    def __call__(self) -> float:
        return self.now_s


class Given:
    def __init__(self, folder: Path) -> None:
        self.issuer = Issuer()
        self.path = folder / "jwks.json"
        self.clock = Clock()
        self.publish()
        self.keys = TokenKeys(str(self.path), self.clock)

    def publish(self) -> None:
        self.path.write_bytes(self.issuer.jwks)

    def accepts(self, token: str, **header: Any) -> bool:
        said = {"alg": "ES256", "kid": "one", **header}
        return self.keys.verify(token, {name: it for name, it in said.items() if it is not None})


@pytest.fixture
def given(tmp_path: Path) -> Given:
    return Given(tmp_path)


def test_a_token_of_the_issuer_is_accepted_and_a_changed_one_is_not(given: Given):
    token = given.issuer.token()
    assert given.accepts(token)
    header, payload, signature = token.split(".")
    assert not given.accepts(f"{header}.{part(given.issuer.claims(sub='admin'))}.{signature}")
    assert not given.accepts(f"{header}.{payload}.")
    assert not given.accepts("nonsense")


def test_a_key_of_the_same_name_that_another_has_made_is_refused(given: Given):
    assert not given.accepts(given.issuer.token(given.issuer.new_key("one")))


def test_a_token_without_the_name_of_a_key_is_checked_with_all_of_them(given: Given):
    given.issuer.keys.append(given.issuer.new_key("two"))
    given.publish()
    token = given.issuer.token(given.issuer.keys[1])
    assert given.accepts(token, kid=None)


@pytest.mark.parametrize("alg", ["none", "HS256", "ES384", "RS256", ""])
def test_another_algorithm_than_the_keys_is_refused(given: Given, alg: str):
    assert not given.accepts(given.issuer.token(), alg=alg)


def test_a_key_for_encryption_signs_nothing(given: Given):
    key = RSAKey.generate_key(2048, {"kid": "one", "use": "enc"})
    given.issuer.keys = [key]
    given.publish()
    sign = RSAKey.import_key({**key.as_dict(private=True), "use": "sig"})
    assert not given.accepts(given.issuer.token(sign, "RS256"), alg="RS256")


def test_a_new_key_is_found_and_unknown_ones_do_not_make_it_read_all_the_time(given: Given):
    assert given.accepts(given.issuer.token())
    fresh = given.issuer.new_key("fresh")
    given.issuer.keys.append(fresh)
    given.publish()
    token = given.issuer.token(fresh)
    assert not given.accepts(token, kid="fresh")
    for number in range(100):
        given.accepts(token, kid=f"made up {number}")
    assert given.keys.reads == 1
    given.clock.now_s = SELDOM_S
    assert given.accepts(token, kid="fresh")
    assert given.keys.reads == 2


def test_a_token_without_the_name_of_a_key_is_taken_soon_after_a_read_that_failed(given: Given):
    token = given.issuer.token()
    given.path.unlink()
    assert not given.accepts(token, kid=None)
    given.publish()
    assert not given.accepts(token, kid=None)
    given.clock.now_s = SELDOM_S
    assert given.accepts(token, kid=None)


def test_a_new_key_is_found_for_a_token_without_the_name_of_a_key(given: Given):
    assert given.accepts(given.issuer.token(), kid=None)
    given.issuer.keys = [given.issuer.new_key("fresh")]
    given.publish()
    token = given.issuer.token()
    for _ in range(100):
        assert not given.accepts(token, kid=None)
    assert given.keys.reads == 1
    given.clock.now_s = SELDOM_S
    assert given.accepts(token, kid=None)


@pytest.mark.parametrize("kid", ["one", None])
def test_a_login_waits_for_the_keys_that_another_one_reads(
    given: Given, monkeypatch: pytest.MonkeyPatch, kid: str | None
):
    has_begun, may_end = threading.Event(), threading.Event()
    content = token_keys._content

    def slow(source: str) -> bytes:
        has_begun.set()
        assert may_end.wait(10)
        return content(source)

    monkeypatch.setattr(token_keys, "_content", slow)
    token = given.issuer.token()
    with ThreadPoolExecutor(2) as threads:
        first = threads.submit(given.accepts, token, kid=kid)
        assert has_begun.wait(10)
        second = threads.submit(given.accepts, token, kid=kid)
        with suppress(TimeoutError):
            second.result(0.2)
        may_end.set()
        assert first.result(10)
        assert second.result(10)
    assert given.keys.reads == 1


def test_a_login_does_not_wait_for_ever_for_keys(given: Given, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(token_keys, "WAIT_S", 0.01)
    with given.keys._turn:
        assert not given.accepts(given.issuer.token(), kid=None)


def test_a_header_with_fields_of_a_vendor_and_certificates_is_accepted(given: Given):
    header = {"vendor": {"shard": 7}, "x5c": ["A" * 2000]}
    token = given.issuer.token(header=header)
    assert given.accepts(token, **header)


def test_a_header_that_demands_an_extension_is_refused(given: Given):
    demanded = part({"alg": "ES256", "kid": "one", "exp": 5, "crit": ["exp"]})
    unsigned = f"{demanded}.{part(given.issuer.claims())}"
    key = given.issuer.keys[0].get_op_key("sign")
    signature = key.sign(unsigned.encode(), ECDSA(SHA256()))
    raw = b"".join(number.to_bytes(32, "big") for number in decode_dss_signature(signature))
    token = f"{unsigned}.{urlsafe_b64encode(raw).decode().rstrip('=')}"
    assert not given.accepts(token, crit=["exp"], exp=5)
    assert given.accepts(given.issuer.token())


def test_a_withdrawn_key_ends_within_the_hour(given: Given):
    token = given.issuer.token()
    assert given.accepts(token)
    given.issuer.keys = [given.issuer.new_key("two")]
    given.publish()
    given.clock.now_s = REFRESH_S - 1
    assert given.accepts(token)
    given.clock.now_s = REFRESH_S
    assert not given.accepts(token)


@pytest.mark.parametrize(
    "content",
    [b"", b"{}", b"[]", b'{"keys": 5}', b'{"keys": [{"kty": "EC"}]}', b"[" * 1_000_000],
    ids=["nothing", "an object", "a list", "a number", "half a key", "nested"],
)
def test_keys_that_cannot_be_read_leave_the_last_ones(given: Given, content: bytes):
    token = given.issuer.token()
    assert given.accepts(token)
    given.path.write_bytes(content)
    given.clock.now_s = REFRESH_S
    assert given.accepts(token)
    given.path.unlink()
    given.clock.now_s = 2 * REFRESH_S
    assert given.accepts(token)


def test_keys_are_read_from_a_url_up_to_a_limit(given: Given, monkeypatch: pytest.MonkeyPatch):
    with published(given.issuer) as url:
        keys = TokenKeys(url, given.clock)
        assert keys.verify(given.issuer.token(), {"alg": "ES256", "kid": "one"})
        monkeypatch.setattr(token_keys, "MOST_BYTES", 10)
        keys = TokenKeys(url, given.clock)
        assert not keys.verify(given.issuer.token(), {"alg": "ES256", "kid": "one"})


@pytest.mark.parametrize(
    "half",
    [
        {"kty": "EC"},
        {"kty": "EC", "crv": "unheard of", "x": "AA", "y": "AA"},
        {"kty": "RSA", "n": 5},
    ],
)
def test_a_key_that_is_not_whole_spoils_no_other(given: Given, half: dict[str, Any]):
    published = json.loads(given.issuer.jwks)
    published["keys"].insert(0, half)
    given.path.write_text(json.dumps(published))
    assert given.accepts(given.issuer.token())


Answer = Callable[[BaseHTTPRequestHandler], None]


@contextmanager
def answering(answer: Answer) -> Iterator[str]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            answer(self)

        def log_message(self, *_: Any) -> None: ...

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    with serving(server):
        yield f"http://127.0.0.1:{server.server_port}/jwks"


def test_keys_that_come_byte_by_byte_are_given_up(given: Given, monkeypatch: pytest.MonkeyPatch):
    """Each byte is in time for itself; meanwhile every login with a token waits."""
    monkeypatch.setattr(token_keys, "TIMEOUT_S", 0.5)

    def trickle(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(200)
        handler.end_headers()
        began = time.monotonic()
        try:
            while time.monotonic() - began < 20:
                handler.wfile.write(b" ")
                time.sleep(0.05)
        except OSError:
            pass

    with answering(trickle) as url:
        keys = TokenKeys(url, given.clock)
        began = time.monotonic()
        assert not keys.verify(given.issuer.token(), {"alg": "ES256", "kid": "one"})
        assert time.monotonic() - began < 10


@pytest.mark.parametrize(
    "answer",
    [b"nonsense\r\n\r\n", b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab"],
    ids=["a bad status line", "half a chunk"],
)
def test_an_answer_that_is_not_http_is_a_read_that_failed(given: Given, answer: bytes):
    with answering(lambda handler: handler.wfile.write(answer) and None) as url:
        keys = TokenKeys(url, given.clock)
        assert not keys.verify(given.issuer.token(), {"alg": "ES256", "kid": "one"})


def test_no_redirect_leads_out_of_tls():
    tls = Request("https://issuer.example/jwks")
    follow = token_keys._StaysWithTls().redirect_request
    with pytest.raises(OSError, match="it redirects to http:"):
        follow(tls, None, 302, "Found", {}, "http://issuer.example/jwks")
    assert follow(tls, None, 302, "Found", {}, "https://elsewhere.example/jwks") is not None
