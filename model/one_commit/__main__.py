"""python -m one_commit: explore every scenario, or break a rule and see what happens."""

from __future__ import annotations

import argparse
import sys

from one_commit.explore import Found, explore
from one_commit.processes import Setting
from one_commit.scenarios import RULES, SCENARIOS

MOST = 20_000_000


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m one_commit", description=__doc__)
    parser.add_argument("--break", dest="rule", choices=RULES, help="leave this rule out")
    parser.add_argument(
        "--scenario", choices=SCENARIOS, action="append", help="only this one; may be repeated"
    )
    parser.add_argument("--most", type=int, default=MOST, help="states of a scenario (%(default)s)")
    given = parser.parse_args()
    broken = frozenset([given.rule] if given.rule else ())
    faults = 0
    for name, version in _chosen(given.rule, given.scenario):
        scenario = SCENARIOS[name]
        found = explore(scenario.processes, Setting(version, broken), given.most)
        faults += found.fault is not None
        _tell(name, scenario.title, version if len(scenario.versions) > 1 else None, found)
        if found.fault and broken:
            return 1
    return 1 if faults else 0


def _chosen(rule: str | None, scenarios: list[str] | None) -> list[tuple[str, int]]:
    """Scenarios, with the version of transactions."""
    if rule and not scenarios:
        return [(RULES[rule].scenario, RULES[rule].version)]
    names = scenarios or SCENARIOS
    return [(name, version) for name in names for version in SCENARIOS[name].versions]


def _tell(name: str, title: str, version: int | None, found: Found) -> None:
    kept = "every invariant holds" if found.is_whole else "no fault so far"
    which = f", transactions version {version}" if version else ""
    print(f"{name}: {title}{which}: {found.states:,} states, {found.fault or kept}", flush=True)
    for step in found.path:
        print(f"    {step}")


if __name__ == "__main__":
    sys.exit(main())
