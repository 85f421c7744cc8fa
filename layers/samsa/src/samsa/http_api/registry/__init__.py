"""The schema registry: Confluent's REST API, at the address of the HTTP API.

Its store is the topic `_schemas` (`schema_log.py`), its state a replay of it. Nothing of it is
imported before the first request for one of its paths.
"""
