"""The Authorization header: what is taken, what is refused, and that nothing of it is shown."""

from base64 import b64encode

import pytest
from hypothesis import given
from hypothesis import strategies as st
from unit.security.given import PATIENT

from samsa.security.http_credentials import Basic, Bearer, read


def basic(pair: bytes) -> str:
    return "Basic " + b64encode(pair).decode()


def test_the_pair_of_the_rfc_is_read():
    assert read("Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==") == Basic("Aladdin", "open sesame")
    assert read("Basic dGVzdDoxMjPCow==") == Basic("test", "123£")


@pytest.mark.parametrize("scheme", ["basic", "BASIC", " Basic  "])
def test_the_scheme_is_read_in_any_case(scheme: str):
    assert read(scheme + " " + b64encode(b"a:b").decode()) == Basic("a", "b")
    assert read("bearer a.b.c") == Bearer("a.b.c")


def test_a_password_may_have_colons():
    assert read(basic(b"alice:a:b:")) == Basic("alice", "a:b:")


@pytest.mark.parametrize(
    "header",
    [
        "",
        "Basic",
        "Basic ",
        "Bearer ",
        "Bearer a b",
        "Bearer a,Basic YTpi",
        "Digest username=alice",
        "Negotiate YTpi",
        "Basic YTpi YTpi",
        "Basic YTp",
        "Basic ====",
        basic(b"alice"),
        basic(b"alice:\xff"),
        "Basic YTpi\x00",
    ],
)
def test_everything_else_is_refused_and_not_quoted(header: str):
    with pytest.raises(ValueError, match=r"^(neither Basic nor|Basic without)"):
        read(header)


@given(st.text() | st.text().map(lambda text: f"Basic {text}"))
@PATIENT
def test_no_header_raises_anything_else(header: str):
    try:
        read(header)
    except ValueError as error:
        assert len(str(error)) < 80  # noqa: PT017


def test_secrets_are_not_shown():
    assert "hunter2" not in repr(read(basic(b"alice:hunter2")))
    assert "abc" not in repr(read("Bearer abc"))
