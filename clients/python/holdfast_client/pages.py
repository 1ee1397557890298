"""Lists, page by page or item by item."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Callable, Dict, Generic, Iterator, List, Mapping, Optional, TypeVar

Item = TypeVar("Item")


@dataclass(frozen=True)
class Answer:
    data: Any
    status: int
    headers: Mapping[str, str]
    # Of the next page; None if there is none.
    next_cursor: Optional[str]


@dataclass(frozen=True)
class Page(Generic[Item]):
    data: List[Item]
    # None on the last page.
    next_cursor: Optional[str]
    headers: Mapping[str, str]


Ask = Callable[[Dict[str, Any]], Answer]


class Pages(Generic[Item]):
    """Iterates the items of all pages. Nothing is asked for before it is iterated."""

    def __init__(self, ask: Ask, arguments: Dict[str, Any]) -> None:
        self._ask = ask
        self._arguments = arguments

    def __iter__(self) -> Iterator[Item]:
        for page in self.pages():
            yield from page.data

    def page(self) -> Page[Item]:
        """One page: the first, or that of the argument `cursor`."""
        return self._page(self._arguments)

    def pages(self) -> Iterator[Page[Item]]:
        """This page and those after it."""
        asked = self._arguments
        while True:
            page = self._page(asked)
            yield page
            # The feed of events has a next cursor also at its end, which is the one that was sent.
            if page.next_cursor is None or page.next_cursor == asked.get("cursor"):
                return
            asked = {**self._arguments, "cursor": page.next_cursor}

    def _page(self, arguments: Dict[str, Any]) -> Page[Item]:
        answer = self._ask(arguments)
        return Page(answer.data, answer.next_cursor, answer.headers)
