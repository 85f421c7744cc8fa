"""Samsa: a Kafka broker with no brokers."""
