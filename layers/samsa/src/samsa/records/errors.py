"""What can be wrong with record bytes. Every failure in this room is one of these."""


class RecordError(Exception):
    """Bytes that are not what a record batch or a message set should be."""


class CorruptBatch(RecordError):
    """The bytes contradict themselves: checksum, magic, truncation, lengths that lie."""


class TooLarge(CorruptBatch):
    """The bytes unpack to more than may be made of them."""


class InvalidRecord(RecordError):
    """The bytes are well formed, but say something that may not be said here."""


class UnsupportedCodec(RecordError):
    """The attributes name a compression codec that does not exist."""
