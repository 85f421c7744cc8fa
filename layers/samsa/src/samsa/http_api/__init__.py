"""The HTTP API: the same broker, asked with curl instead of a Kafka client.

Every route asks the handlers what a Kafka client would ask them, in this process and without the
wire, and tells their answer as JSON. So names, configs and offsets are checked in one place, in one
set of words. Nothing here is imported by a broker before somebody comes by HTTP: see `door.py`.
"""
