"""What the system lets one process have."""

import resource


def raise_open_files() -> None:
    """As high as this user may: often 1,024 is the beginning. Brokers that are started later
    inherit it."""
    _, highest = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (highest, highest))
