"""Where a test's randomness comes from: printed, and repeatable by SAMSA_CRASH_SEED."""

import os
import random


def seeded() -> random.Random:
    """The moments come from the seed; what the machine does in between does not."""
    seed = os.environ.get("SAMSA_CRASH_SEED") or str(random.SystemRandom().randrange(10**9))
    print(f"SAMSA_CRASH_SEED={seed}")
    return random.Random(seed)
