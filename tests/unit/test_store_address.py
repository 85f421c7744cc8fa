"""URLs of stores: what they say, and what is refused with a sentence."""

import pytest

from samsa.runtime.store_address import BadUrl, local_path, read_remote_url, read_store_url

EXAMPLE = "sqlite:///path/to/ledger.db"


def test_a_remote_url_says_where_the_store_is():
    url = read_remote_url("s3://bucket/a/folder/?region=eu-central-1&endpoint=http://host:1", "s3")
    assert (url.name, url.prefix) == ("bucket", "a/folder")
    assert (url.region, url.endpoint) == ("eu-central-1", "http://host:1")


def test_what_a_url_does_not_say_is_left_to_the_environment():
    url = read_remote_url("dynamodb://table", "dynamodb")
    assert (url.name, url.prefix, url.region, url.endpoint) == ("table", "", None, None)


@pytest.mark.parametrize(
    "text", ["sqlite:///ledger.db", "s3://bucket", "dynamodb:", "dynamodb:///x"]
)
def test_functions_take_no_other_store(text: str):
    with pytest.raises(BadUrl, match="is not dynamodb://NAME"):
        read_remote_url(text, "dynamodb")


def test_an_option_that_is_mistyped_is_named_with_those_that_exist():
    with pytest.raises(BadUrl, match="no option 'regoin'; there are region, endpoint"):
        read_store_url("s3://bucket?regoin=eu-central-1")


@pytest.mark.parametrize("slashes", ["///", "////"])
def test_a_local_path_has_three_slashes_or_four(slashes: str):
    assert local_path(read_store_url(f"sqlite:{slashes}var/ledger.db"), EXAMPLE) == "/var/ledger.db"


@pytest.mark.parametrize("text", ["sqlite://ledger.db", "sqlite:ledger.db", "sqlite:///"])
def test_a_path_that_is_not_absolute_is_refused_with_an_example(text: str):
    with pytest.raises(BadUrl, match=EXAMPLE):
        local_path(read_store_url(text), EXAMPLE)
