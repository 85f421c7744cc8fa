"""`samsa pipeline run` again and again, in one Java that is warm: each time a Spark of its own.

Run as a program: a line of words in, what it says out, and then how it ended.
"""

import json
import sys

from samsa_broker.cli.main import main as samsa

ENDED = "ended with "


def main() -> None:
    for line in sys.stdin:
        code = samsa(["pipeline", "run", *json.loads(line)])
        print(f"{ENDED}{code}", flush=True)


if __name__ == "__main__":
    main()
