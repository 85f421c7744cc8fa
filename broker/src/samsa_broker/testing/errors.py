"""What goes wrong in the fixture itself: a message for the author of the test."""


class SamsaError(Exception):
    """Its text says what to do next."""
