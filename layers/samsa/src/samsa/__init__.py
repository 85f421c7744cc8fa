"""Samsa: a Kafka broker with no brokers."""

__version__ = "0.1.0"
