"""Decodes the chain of keyframes and deltas (PROTOCOL.md, section 5) in a thread of its own, so that the thread that
receives messages does not wait for it."""

from __future__ import annotations

import threading
from collections import deque
from typing import Callable, Deque, Optional, Tuple

from ._codec import Decoder, FrameError
from .frames import Frame, Topology

#: Longest queue of frames, half a second; beyond it the chain restarts with a keyframe.
_WAITING = 15


class Chain:
    """`show` is called with each decoded frame; `ask` must ask the server for a keyframe."""

    def __init__(self, topology: Topology, show: Callable[[Frame], None], ask: Callable[[], None]) -> None:
        self._topology = topology
        self._show = show
        self._ask = ask
        self._decoder = Decoder((body.count, body.triangles.tolist()) for body in topology.bodies)
        self._news = threading.Condition()
        self._waiting: Deque[Tuple[int, Optional[int], bytes]] = deque()
        self._broken = True
        self._ended = False
        threading.Thread(target=self._run, name="pliant frames", daemon=True).start()

    def take(self, tick: int, base: Optional[int], data: bytes) -> None:
        """Queues a delta against the frame of tick `base`, or a keyframe if `base` is None."""
        with self._news:
            if base is None:
                self._broken = False
                self._waiting.clear()
            elif self._broken:
                return
            if len(self._waiting) >= _WAITING:
                return self._break()
            self._waiting.append((tick, base, data))
            self._news.notify()

    def end(self) -> None:
        with self._news:
            self._ended = True
            self._news.notify()

    def _break(self) -> None:
        """Ignores deltas until the next keyframe, and asks for one."""
        self._broken = True
        self._waiting.clear()
        self._ask()

    def _run(self) -> None:
        newest: Optional[Frame] = None
        while True:
            with self._news:
                self._news.wait_for(lambda: self._waiting or self._ended)
                if self._ended:
                    return
                tick, base, data = self._waiting.popleft()
            try:
                if base is not None and (newest is None or newest.tick != base):
                    raise FrameError(f"a delta against tick {base}, which is missing")
                numbers = self._decoder.decode(data, None if base is None or newest is None else newest.numbers)
                newest = Frame(tick, numbers, self._topology)
                self._show(newest)
            except FrameError:
                with self._news:
                    # A keyframe that has arrived meanwhile repairs the chain.
                    if not self._broken and not any(kind is None for _, kind, _ in self._waiting):
                        self._break()
