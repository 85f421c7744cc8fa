"""Kafka's wire protocol: message tables, the codecs compiled from them, frames, error codes.

Pure: bytes in, rows out, and back. Nothing here does I/O, and nothing is compiled at import.
"""
