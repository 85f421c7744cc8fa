"""What a judge raises."""


class Violation(Exception):
    """An invariant does not hold."""


def require(holds: bool, what: str) -> None:
    if not holds:
        raise Violation(what)
