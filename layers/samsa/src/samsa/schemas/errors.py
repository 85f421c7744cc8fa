"""Why a schema or a value is refused. The texts are for the client."""


class BadSchema(Exception):
    """It cannot be read, or the rules of its kind forbid it."""


class TooComplex(BadSchema):
    """It is deeper, larger or more entangled than is looked at."""


class BadValue(Exception):
    """A value does not fit its schema, or bytes are no value of it."""


class NotFramed(BadValue):
    """Bytes that do not begin as a serializer with a registry writes them."""


class NotInstalled(Exception):
    """The package that knows schemas of this kind is absent."""
