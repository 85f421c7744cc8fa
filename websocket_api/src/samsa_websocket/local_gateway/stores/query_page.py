"""One page of a query: as many items as fit, filtered and cut to what was asked for."""

from .attributes import item_bytes
from .conditions import Condition, condition
from .refusals import Item
from .tokens import Words
from .writes import KEYS, scope_of

PAGE_BYTES = 1024 * 1024
MOST_ITEMS = 1_000_000


class Page:
    """The filter is applied to the items of the page: it makes none of them free."""

    def __init__(self, asked: Item) -> None:
        self._scope = scope_of(asked)
        self._limit = int(asked.get("Limit", MOST_ITEMS))
        self._filter: Condition | None = None
        if "FilterExpression" in asked:
            self._filter = condition(asked["FilterExpression"])
        self._wanted = _projection(asked)
        self._items: list[Item] = []
        self._last: Item | None = None
        self._seen = 0
        self._more = False
        self.size = 0

    def takes(self, item: Item) -> bool:
        """False if the page is full: then the item is not in it."""
        if self._seen >= self._limit or self.size >= PAGE_BYTES:
            self._more = True
            return False
        self.size += item_bytes(item)
        self._seen += 1
        self._last = item
        self._scope.item = item
        if self._filter is None or self._filter(self._scope):
            self._items.append(self._projected(item))
        return True

    def _projected(self, item: Item) -> Item:
        if self._wanted is None:
            return item
        return {name: item[name] for name in self._wanted if name in item}

    def answer(self) -> Item:
        told: Item = {"Items": self._items, "Count": len(self._items), "ScannedCount": self._seen}
        if self._last is not None and (self._more or self._seen == self._limit):
            told["LastEvaluatedKey"] = {name: self._last[name] for name in KEYS}
        return told


def _projection(asked: Item) -> list[str] | None:
    if "ProjectionExpression" not in asked:
        return None
    words, scope = Words(asked["ProjectionExpression"]), scope_of(asked)
    found = [scope.path(words.path())]
    while words.takes(","):
        found.append(scope.path(words.path()))
    return [str(name) for name, *_ in found]
