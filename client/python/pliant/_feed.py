"""A queue of events from the receiving thread to the caller."""

from __future__ import annotations

import threading
from collections import deque
from typing import Callable, Deque, Generic, Iterator, Optional, TypeVar

T = TypeVar("T")
#: Events that wait for a slow caller; beyond that the oldest are dropped.
MOST = 1000


class Feed(Generic[T]):
    def __init__(self, news: threading.Condition, ended: Callable[[], Optional[BaseException]]) -> None:
        self._news = news
        self._ended = ended
        self._waiting: Deque[T] = deque(maxlen=MOST)

    def put(self, event: T) -> None:
        with self._news:
            self._waiting.append(event)
            self._news.notify_all()

    def each(self, timeout: Optional[float]) -> Iterator[T]:
        """Yields every event once. Raises TimeoutError after `timeout` s without one, PliantError at the end."""
        while True:
            with self._news:
                if not self._news.wait_for(lambda: self._waiting or self._ended(), timeout):
                    raise TimeoutError(f"no event within {timeout} s")
                if not self._waiting:
                    error = self._ended()
                    assert error is not None
                    raise error
                event = self._waiting.popleft()
            yield event
