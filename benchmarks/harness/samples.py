"""What was measured: figures by row and side, words where there is no figure, and problems."""

from collections import defaultdict
from dataclasses import dataclass, field

Cell = tuple[str, str]
"""A row's key and a side."""


@dataclass(slots=True)
class Samples:
    figures: dict[Cell, list[float]] = field(default_factory=lambda: defaultdict(list))
    words: dict[Cell, str] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)

    def add(self, row: str, side: str, figure: float | None) -> None:
        if figure is not None:
            self.figures[row, side].append(figure)

    def word(self, row: str, side: str, text: str) -> None:
        self.words[row, side] = text

    def problem(self, text: str) -> None:
        if text not in self.problems:
            self.problems.append(text)

    def has(self, row: str) -> bool:
        return any(key == row for key, _ in [*self.figures, *self.words])
