"""`samsa up` that evicts producers from its heads early, so that a short run meets that too.

Only the bounds are other ones: they say when, and not how.
"""

import sys

from samsa.ports import bounds

bounds.FEW_PRODUCERS, bounds.MOST_PRODUCERS = 2, 4

if __name__ == "__main__":
    from samsa.cli.main import main  # not before: it imports who uses the bounds

    sys.exit(main())
