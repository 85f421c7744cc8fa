"""Spark over both brokers' logs: the same data, the same jobs, in one session."""
