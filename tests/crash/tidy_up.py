"""`samsa up` that evicts producers from its heads early, so that a short run meets that too.

Only the bounds are other ones: they say when, and not how.
"""

import sys

from samsa.ports import bounds

FEW, MOST = 2, 4

if __name__ == "__main__":
    bounds.FEW_PRODUCERS, bounds.MOST_PRODUCERS = FEW, MOST
    from samsa_broker.cli.main import main  # not before: it imports who uses the bounds

    sys.exit(main())
