"""The rules that a schedule is played by: the log's own, or those with one of them taken out."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from samsa.coordinator.transactions import TransactionCoordinator
from samsa.log.core import Log

from .actors import Cast, actors
from .client import batch_of
from .ledger import SimLedger
from .objects import SimObjects
from .setting import Setting
from .transactions import SimTransactions
from .truth import Truth

if TYPE_CHECKING:
    from .world import World

Break = Callable[[Log], None]
BreakCoordinator = Callable[[TransactionCoordinator], None]


def untouched(log: Log) -> None:
    """The log as it is."""


def unchanged(coordinator: TransactionCoordinator) -> None:
    """The coordinator as it is."""


def as_drawn(setting: Setting) -> Setting:
    return setting


class Rules(NamedTuple):
    break_log: Break = untouched
    ledger: type[SimLedger] = SimLedger
    objects: type[SimObjects] = SimObjects
    tune: Callable[[Setting], Setting] = as_drawn
    """Where a rule is seldom needed, the schedules are made for it."""
    truth: type[Truth] = Truth
    cast: Callable[["World"], Cast] = actors
    batch_of: Callable[..., bytes] = batch_of
    break_coordinator: BreakCoordinator = unchanged
    transactions: type[SimTransactions] = SimTransactions
    patches: Mapping[str, Any] = {}
    """What stands at these places of the code instead, by dotted name."""


SOUND = Rules()
BROKEN: dict[str, Rules] = {}
"""By what is done instead of the rule."""


def instead(what: str, tune: Callable[[Setting], Setting] = as_drawn) -> Callable[[Break], Break]:
    """Register a way to break the log of every process."""

    def register(break_log: Break) -> Break:
        BROKEN[what] = Rules(break_log, tune=tune)
        return break_log

    return register


def replace(owner: Any, name: str, method: Callable[..., Any]) -> None:
    """Give one object another method, which is handed the one it replaces."""
    original = getattr(owner, name)

    async def changed(*args: Any) -> Any:
        return await method(original, *args)

    setattr(owner, name, changed)


def always(owner: Any, name: str, answer: Any) -> None:
    async def blind(original: Any, *args: Any) -> Any:
        return answer

    replace(owner, name, blind)
