"""python -m scale: play 100,000 partitions and 1,000,000 clients on AWS's limits.

Without arguments: every table of docs/scale.md. With --offered: one load of your own.
"""

from __future__ import annotations

import argparse
import sys

from scale.run import play
from scale.setting import FUNCTIONS, PROCESSES, Setting
from scale.sums import SUMS
from scale.tables import CHANGES, TABLES, TITLES, Row, line, lines


def main() -> int:
    given = _parser().parse_args()
    if given.offered:
        print(*TITLES, sep="\n")
        for row in _own(given):
            print(line(row.label, row.setting, play(row.setting)), flush=True)
        return 0
    for name in given.table or (*SUMS, *TABLES):
        print(f"\n{name}\n", flush=True)
        for text in SUMS[name]() if name in SUMS else lines(name):
            print(text, flush=True)
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m scale", description=__doc__)
    add, usual = parser.add_argument, Setting()
    add("--table", choices=(*SUMS, *TABLES), action="append", help="only this one; may be repeated")
    add("--offered", type=float, action="append", help="appends a second; may be repeated")
    add("--shape", choices=(FUNCTIONS, PROCESSES), default=FUNCTIONS)
    add("--size", type=int, default=usual.size, help="bytes of an append (%(default)s)")
    add("--partitions", type=int, default=usual.partitions, help="(%(default)s)")
    add("--clients", type=int, default=usual.clients, help="(%(default)s)")
    add("--skew", type=float, default=usual.skew, help="exponent of Zipf's law (%(default)s)")
    add("--processes", type=int, default=usual.processes, help="(%(default)s)")
    add("--seed", type=int, default=usual.seed)
    add("--changes", type=int, default=0, help="how many of the changes are made (%(default)s)")
    add(
        "--set",
        action="append",
        default=[],
        metavar="FIELD=NUMBER",
        help="any number of setting.py, such as table_writes=80000",
    )
    return parser


def _own(given: argparse.Namespace) -> list[Row]:
    names = ("shape", "size", "partitions", "clients", "skew", "processes", "seed")
    setting = Setting(**{name: getattr(given, name) for name in names})
    for change in CHANGES[given.shape][: given.changes]:
        setting = setting.but(**change.fields)
    numbers = {name: float(value) for name, value in (each.split("=") for each in given.set)}
    setting = setting.but(**numbers)
    return [Row(given.shape, setting.but(appends=appends)) for appends in given.offered]


if __name__ == "__main__":
    sys.exit(main())
