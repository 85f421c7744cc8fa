"""The HTTP API: the same broker, asked with curl instead of a Kafka client.

Every route sends the handlers the requests of a Kafka client, in this process and without the wire,
and returns their answer as JSON. So names, configs and offsets are checked in one place, with the
same error messages. A broker imports nothing of it before the first HTTP request
(`lazy_listener.py`).
"""
