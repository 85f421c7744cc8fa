"""The error message for an argument that no command knows."""

import argparse
from collections.abc import Iterator, Sequence
from difflib import get_close_matches


def why_not(root: argparse.ArgumentParser, words: Sequence[str], unknown: Sequence[str]) -> str:
    """What is wrong, what was probably meant, and where to look."""
    *_, command = _named(root, words)
    options = [name for action in command._actions for name in action.option_strings]
    first = next((word for word in unknown if word.startswith("-")), unknown[0])
    meant = get_close_matches(first.partition("=")[0], options, n=1)
    guess = f" (did you mean {meant[0]}?)" if meant else ""
    return f"unrecognized arguments: {' '.join(unknown)}{guess}; see {command.prog} --help"


def _named(
    parser: argparse.ArgumentParser, words: Sequence[str]
) -> Iterator[argparse.ArgumentParser]:
    """The commands named by the words, from the root on."""
    yield parser
    choices = _choices(parser)
    for at, word in enumerate(words):
        if word in choices:
            yield from _named(choices[word], words[at + 1 :])
            return


def _choices(parser: argparse.ArgumentParser) -> dict[str, argparse.ArgumentParser]:
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            return dict(action.choices)
    return {}
