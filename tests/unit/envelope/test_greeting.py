import pytest

from samsa_websocket.envelope import EnvelopeError, Greeting, greeting_query, read_greeting


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "::1", "kafka.example.com"])
def test_a_greeting_is_read_as_it_was_written(host):
    greeting = Greeting((host, 9092), "10.0.0.7")
    assert read_greeting(greeting_query(greeting)) == greeting


@pytest.mark.parametrize(
    "query",
    [
        None,
        {},
        {"v": "2", "listen": "localhost:9092"},
        {"v": "1"},
        {"v": "1", "listen": "localhost"},
        {"v": "1", "listen": ":9092"},
        {"v": "1", "listen": "localhost:65536"},
        {"v": "1", "listen": "localhost:²"},
        {"v": "1", "listen": "h" * 300 + ":1"},
    ],
)
def test_a_greeting_that_says_too_little_is_refused(query):
    with pytest.raises(EnvelopeError):
        read_greeting(query)
