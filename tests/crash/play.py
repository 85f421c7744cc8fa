"""Kill a process at every call to the stores that a run makes, in turn, while another appends.

    python tests/crash/play.py --kills 500 --seed 7

The first kills are at the first call after the start, the next at the second, and so on up to
`--calls`, each before the call, after it, and with the call arriving late; then it begins again.
What the machine does in between does not follow from the seed.
"""

import argparse
import os
import random
import sys
import tempfile
import time
from collections import Counter
from itertools import cycle, islice, product
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from crash.killing import Scene, a_scene
from crash.kills import Moment
from support.servers.dynamodb_local import dynamodb_local
from support.servers.versitygw import versitygw
from support.stores import ACCESS_KEY, SECRET_KEY, make_bucket

AWS = {
    "AWS_ACCESS_KEY_ID": ACCESS_KEY,
    "AWS_SECRET_ACCESS_KEY": SECRET_KEY,
    "AWS_DEFAULT_REGION": "us-east-1",
}


def play(scene: Scene, kills: int, calls: int) -> None:
    plan = cycle(product(range(1, calls + 1), Moment))
    for done, (number, moment) in enumerate(islice(plan, kills), 1):
        scene.kill(moment, number)
        print(
            f"{done:>5}  {moment.name.lower():>6} {number:>3}: {scene.kills.met[-1][0]}", flush=True
        )


def tell(scene: Scene, figures: Counter[str]) -> None:
    met = Counter(scene.kills.met)
    calls = sorted({call for call, _ in met}, key=lambda call: -sum(met[call, m] for m in Moment))
    print(f"\n{'killed at':<20}" + "".join(f"{moment.name.lower():>8}" for moment in Moment))
    for call in calls:
        print(f"{call:<20}" + "".join(f"{met[call, moment]:>8}" for moment in Moment))
    print()
    for name, number in figures.items():
        print(f"{number:>9,} {name}")


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--kills", type=int, default=60)
    parser.add_argument("--calls", type=int, default=60)
    parser.add_argument("--seed", type=int)
    given = parser.parse_args()
    seed = given.seed if given.seed is not None else time.time_ns() % 1_000_000_000
    print(f"seed {seed}", flush=True)
    os.environ.update(AWS)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with dynamodb_local(folder) as dynamodb, versitygw(folder, ACCESS_KEY, SECRET_KEY) as s3:
            make_bucket(s3)
            with a_scene(folder, dynamodb, s3, random.Random(seed)) as scene:
                play(scene, given.kills, given.calls)
                tell(scene, scene.finish())
    return 0


if __name__ == "__main__":
    sys.exit(main())
