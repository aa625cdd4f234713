"""Bodies of a room, and frames: the positions of all particles at a tick."""

from __future__ import annotations

import sys
from array import array
from dataclasses import dataclass
from typing import Any, Dict, List, Sequence, Union

from .errors import PliantError


@dataclass(frozen=True)
class Body:
    """A body of the scene. `triangles` is its surface, uint32 (T, 3), indices into its own `count` particles; `rest`
    has their undeformed positions, float32 (count, 3), m; `quantum` is the grid of its frames, m."""

    index: int
    name: str
    kind: str
    first: int
    count: int
    quantum: float
    spawnable: bool
    triangles: memoryview
    rest: memoryview


#: A body's index, its name, or the body itself.
BodyKey = Union[int, str, Body]


def little_endian(code: str, data: bytes) -> array:
    """Decodes numbers of 4 bytes each (type code `i`, `I` or `f` of `array`)."""
    numbers = array(code)
    numbers.frombytes(data)
    if sys.byteorder == "big":
        numbers.byteswap()
    return numbers


def rows(numbers: Any, code: str) -> memoryview:
    """Returns a view of x y z x y z ... as (n, 3); `numpy.asarray` uses it without a copy."""
    flat = memoryview(numbers)
    return flat.cast("B").cast(code, (len(flat) // 3, 3)) if len(flat) else flat


class Topology:
    """The scene's topology, from the server's msgpack map."""

    def __init__(self, fields: Dict[str, Any]) -> None:
        if fields.get("version") != 1:
            raise PliantError("BAD_ANSWER", f"a topology of version {fields.get('version')}, this client knows 1")
        self.particles: int = fields["particles"]
        self.tick_hz: float = fields["tickHz"]
        self.origin: List[float] = fields["origin"]
        #: Indices of the bodies that one grab may hold at once.
        self.together: List[int] = fields.get("interaction", {}).get("together", [])
        self.bodies = [
            Body(
                index,
                body["name"],
                body["kind"],
                body["first"],
                body["count"],
                body["quantum"],
                body.get("spawnable", False),
                rows(little_endian("I", body["triangles"]), "I"),
                rows(little_endian("f", body["rest"]), "f"),
            )
            for index, body in enumerate(fields["bodies"])
        ]

    def body(self, key: BodyKey) -> Body:
        """Returns a body. Raises PliantError BAD_ARGUMENT if it does not exist."""
        if isinstance(key, Body):
            return key
        for body in self.bodies:
            if key in (body.index, body.name) and not isinstance(key, bool):
                return body
        names = ", ".join(body.name for body in self.bodies)
        raise PliantError.argument("body", key, f"one of {names}")


class Frame:
    """Positions of all particles at `tick`. Immutable: each tick has a new frame."""

    def __init__(self, tick: int, numbers: Sequence[int], topology: Topology) -> None:
        """`numbers`: int32[3 * particles]."""
        self.tick = tick
        self.numbers = numbers
        self._topology = topology

    def quantized(self, body: BodyKey) -> memoryview:
        """int32 (count, 3) in steps of the body's grid, exactly as the server has them."""
        at = self._topology.body(body)
        return rows(memoryview(self.numbers)[3 * at.first : 3 * (at.first + at.count)], "i")

    def positions(self, body: BodyKey) -> memoryview:
        """float64 (count, 3), m, relative to the room's origin."""
        at = self._topology.body(body)
        numbers = self.numbers[3 * at.first : 3 * (at.first + at.count)]
        return rows(array("d", [number * at.quantum for number in numbers]), "d")
