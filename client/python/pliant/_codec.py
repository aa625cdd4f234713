"""Decodes frames of the codec (docs/CODEC.md, whose section numbers are used here). All arithmetic is rounded to
binary32 after every operation, so the integers equal the server's."""

from __future__ import annotations

import math
import struct
from array import array
from typing import Callable, Iterable, List, Optional, Sequence, Set, Tuple

from ._tables import ROWS

Vector = Tuple[float, float, float]

KEYFRAME, DELTA = 0x21, 0x22
_HEADER = struct.Struct("<BHI")
_LIMIT = 2**28 - 1
_FLOOR = 2**15
_ESCAPE = 31
_SHIFTED_BIN, _LAST_BIN = 14, 40
_FLAG = 8 * _SHIFTED_BIN + 2
_FIRST_ACTIVITY, _ACTIVITY_GATES, _EDGE_WEIGHT_LIMIT, _GROWTH_LIMIT = 64.0, 1152.0, 32.0, 4.0
_STRETCH_SCALE, _STRETCH_OFFSET, _STRETCH_LIMIT = 576.0, 58.0, 2.0**60
_GATE_SHARE = array("f", [0.8])[0]
_INVERSE = (0.0, *array("f", [1 / k for k in (1, 2, 3, 4)]))
_ROUNDER, _ROUNDER_BITS, _ONE_BITS = 12582912.0, 0x4B400000, 0x3F800000


class FrameError(ValueError):
    """The bytes are not a complete, undamaged frame."""


def _contexts() -> List[Tuple[bytes, List[int], List[int]]]:
    """Section 4. Returns for each context the symbol of each slot, and the frequency and start of each symbol."""
    columns = []
    for context in range(_FLAG):
        bin_, phase = divmod(context, 8)
        row = ROWS[5 * bin_ + min(phase, 8 - phase) if bin_ < _SHIFTED_BIN else 5 * _SHIFTED_BIN + phase]
        first, listed, escape = row.replace(" | ", ": ").split(": ")
        frequencies = [1] * _ESCAPE + [int(escape)]
        for residual, frequency in enumerate(listed.split(), int(first)):
            frequencies[15 - residual if bin_ < _SHIFTED_BIN and phase > 4 else 15 + residual] = int(frequency)
        columns.append(frequencies)
    columns.append([14336, 2048])
    return [
        (
            b"".join(bytes([symbol]) * frequency for symbol, frequency in enumerate(frequencies)),
            frequencies,
            [sum(frequencies[:symbol]) for symbol in range(len(frequencies))],
        )
        for frequencies in columns
    ]


_CONTEXTS = _contexts()


class _Reader:
    """rANS decoder (section 3)."""

    def __init__(self, data: bytes, state: int) -> None:
        self._state = state
        self._words = iter(struct.unpack_from(f"<{(len(data) - _HEADER.size) // 2}H", data, _HEADER.size))

    def _take(self, start: int, frequency: int) -> None:
        state = frequency * (self._state >> 14) + (self._state & 0x3FFF) - start
        # Zeros are read past the end; the check in `end` then fails.
        self._state = (state << 16 | next(self._words, 0)) & 0xFFFFFFFF if state < _FLOOR else state

    def symbol(self, context: int) -> int:
        slots, frequencies, starts = _CONTEXTS[context]
        symbol = slots[self._state & 0x3FFF]
        self._take(starts[symbol], frequencies[symbol])
        return symbol

    def raw(self, bits: int) -> int:
        value = (self._state & 0x3FFF) >> (14 - bits)
        self._take(value << (14 - bits), 1 << (14 - bits))
        return value

    def residual(self, context: int, shift: int) -> int:
        """Decodes a residual (section 7): high * 2^shift + low."""
        high = self.symbol(context) - 15
        if high == _ESCAPE - 15:
            head = self.raw(6)
            bits = head >> 1
            if bits < 5:
                raise FrameError(f"an escaped residual has {bits} bits, must have at least 5")
            high = 1 << (bits - 1)
            for done in range(0, bits - 1, 14):
                high |= self.raw(min(14, bits - 1 - done)) << done
            high = -high if head & 1 else high
        return (high << shift) + self.raw(shift) if shift else high

    def end(self) -> None:
        left = next(self._words, None)
        if self._state != _FLOOR or left is not None:
            raise FrameError(f"the frame ends in state {self._state}, must end in {_FLOOR} with its last word")


class Traversal:
    """Coding order of a body's particles (section 5). Neighbors and gates are listed by rank in that order, as
    ranks."""

    def __init__(self, count: int, triangles: Iterable[Sequence[int]]) -> None:
        corners = [tuple(triangle) for triangle in triangles]
        fans: List[List[int]] = [[] for _ in range(count)]
        rings: List[Set[int]] = [set() for _ in range(count)]
        for index, triangle in enumerate(corners):
            for particle in set(triangle):
                fans[particle].append(index)
                rings[particle].update(triangle)
        neighbors = [sorted(ring - {particle}) for particle, ring in enumerate(rings)]
        self.order = _order(neighbors)
        rank = [0] * count
        for at, particle in enumerate(self.order):
            rank[particle] = at
        self.neighbors = [
            sorted((rank[u] for u in neighbors[particle] if rank[u] < at), reverse=True)[:4]
            for at, particle in enumerate(self.order)
        ]
        self.gates = [self._gates(particle, corners, fans, rank) for particle in self.order]

    @staticmethod
    def _gates(
        particle: int, corners: List[Tuple[int, ...]], fans: List[List[int]], rank: List[int]
    ) -> List[Tuple[int, int, int]]:
        at = rank[particle]
        gates: List[Tuple[int, int, int]] = []
        for gate in fans[particle]:
            others = [p for p in corners[gate] if p != particle]
            if len(set(others)) != 2 or len(others) != 2 or rank[others[0]] >= at or rank[others[1]] >= at:
                continue
            a, b = others
            for index in fans[a]:
                thirds = [p for p in corners[index] if p not in (a, b)]
                if len(set(corners[index])) == 3 and len(thirds) == 1 and rank[thirds[0]] < at:
                    gates.append((rank[a], rank[b], rank[thirds[0]]))
                    if len(gates) == 2:
                        return gates
        return gates


def _order(neighbors: List[List[int]]) -> List[int]:
    order: List[int] = []
    degree = [0] * len(neighbors)
    visited = [False] * len(neighbors)
    # By number of visited neighbors; an entry is stale once its particle's number has risen.
    stacks: List[List[int]] = [[] for _ in range(16)]
    for seed in range(len(neighbors)):
        if visited[seed]:
            continue
        stacks[0].append(seed)
        level = 0
        while level >= 0:
            if not stacks[level]:
                level -= 1
                continue
            particle = stacks[level].pop()
            if visited[particle] or degree[particle] != level:
                continue
            visited[particle] = True
            order.append(particle)
            for other in neighbors[particle]:
                if not visited[other] and degree[other] < 15:
                    degree[other] += 1
                    stacks[degree[other]].append(other)
                    level = max(level, degree[other])
    return order


def _rounding() -> Tuple[Callable[[float], float], Callable[[float], int]]:
    """Returns two functions: rounding to binary32, and bits of the rounded value. Each thread needs its own pair."""
    cell = array("f", [0.0])
    bits = memoryview(cell).cast("B").cast("i")

    def rounded(x: float) -> float:
        cell[0] = x
        return cell[0]

    def bits_of(x: float) -> int:
        cell[0] = x
        return bits[0]

    return rounded, bits_of


class _Predictor:
    """Predictor (section 6) of one body in one frame. Lists are indexed by rank."""

    def __init__(self, traversal: Traversal, previous: List[Tuple[int, int, int]], keyframe: bool) -> None:
        self.f, self.bits = _rounding()
        self._traversal = traversal
        self._previous = previous
        self._keyframe = keyframe
        self._moved: List[Vector] = []
        self._activity: List[float] = []
        self._stretch: List[float] = []

    def _dot(self, a: Vector, b: Vector) -> float:
        f = self.f
        return f(f(f(a[0] * b[0]) + f(a[1] * b[1])) + f(a[2] * b[2]))

    def _excess(self, e: Vector, q: Vector) -> float:
        """q . (e + q / 2)"""
        f = self.f
        return self._dot(q, (f(e[0] + f(q[0] * 0.5)), f(e[1] + f(q[1] * 0.5)), f(e[2] + f(q[2] * 0.5))))

    def enter(self, i: int) -> None:
        """Begins the particle of rank i: sets the fields that `expect` and `settle` use."""
        f = self.f
        around = self._traversal.neighbors[i]
        k = len(around)
        self._around = around
        self._own = self._t = 0.0
        self._edges: Optional[List[Tuple[Vector, float]]] = None
        self._yx = self._zx = self._zy = 0.0
        self._variance = self._root = (1.0, 1.0, 1.0)
        self._y: List[float] = []
        if k == 0:
            p = self._moved[i - 1] if i else (0.0, 0.0, 0.0)
            self._act = self._activity[i - 1] if i else _FIRST_ACTIVITY
            self._aim = (f(8 * p[0]), f(8 * p[1]), f(8 * p[2]))
            return
        activity = [self._activity[u] for u in around] + [0.0] * (4 - k)
        stretch = [self._stretch[u] for u in around] + [0.0] * (4 - k)
        older = f(activity[2] + activity[3])
        self._act = f(f(activity[0] + f(activity[1] + older)) * _INVERSE[k])
        old, self._t = activity[0], stretch[0]
        if k > 1:
            old = f(f(activity[1] + older) * _INVERSE[k - 1])
            self._t = f(f(stretch[1] + f(stretch[2] + stretch[3])) * _INVERSE[k - 1])
        a2 = f(old * old)
        p = self._guess(i, 1.0 if self._keyframe else f(f(_GATE_SHARE * a2) / f(a2 + _ACTIVITY_GATES)))
        if self._keyframe or old == 0:
            self._aim = (f(8 * p[0]), f(8 * p[1]), f(8 * p[2]))
        else:
            self._keep_lengths(i, p, min(_EDGE_WEIGHT_LIMIT, f(a2 / f(f(_STRETCH_SCALE * self._t) + _STRETCH_OFFSET))))

    def _guess(self, i: int, alpha: float) -> Vector:
        """Mean displacement of the neighbors, blended with the parallelogram prediction by alpha."""
        f = self.f
        moved = self._moved
        gates = self._traversal.gates[i]
        near = [moved[u] for u in self._around] + [(0.0, 0.0, 0.0)] * (4 - len(self._around))
        (ax, ay, az), (bx, by, bz), (cx, cy, cz), (dx, dy, dz) = near
        sums = (f(ax + f(bx + f(cx + dx))), f(ay + f(by + f(cy + dy))), f(az + f(bz + f(cz + dz))))
        if not gates:
            of_mean = _INVERSE[len(self._around)]
            return f(sums[0] * of_mean), f(sums[1] * of_mean), f(sums[2] * of_mean)
        of_mean = f(_INVERSE[len(self._around)] * f(1 - alpha))
        of_gates = f(alpha * _INVERSE[len(gates)])
        p = []
        for c in range(3):
            corners = [f(f(moved[a][c] + moved[b][c]) - moved[o][c]) for a, b, o in gates]
            both = f(corners[0] + corners[1]) if len(corners) == 2 else corners[0]
            p.append(f(f(sums[c] * of_mean) + f(both * of_gates)))
        return p[0], p[1], p[2]

    def _terms(self, i: int, p: Vector, weight: float) -> List[Tuple[float, ...]]:
        """Returns for each edge the nine products that are summed up."""
        f = self.f
        px, py, pz = self._previous[i]
        terms = []
        self._edges = []
        for u in self._around:
            ux, uy, uz = self._previous[u]
            mx, my, mz = self._moved[u]
            e = (f(px - ux), f(py - uy), f(pz - uz))
            q = (f(p[0] - mx), f(p[1] - my), f(p[2] - mz))
            d = dx, dy, dz = (f(e[0] + q[0]), f(e[1] + q[1]), f(e[2] + q[2]))
            close = f(1 / f(self._dot(e, e) + 1))
            s = self._excess(e, q)
            w = f(weight * close) if f(self._dot(d, d) * close) <= _GROWTH_LIMIT else 0.0
            wx, wy, wz = f(w * dx), f(w * dy), f(w * dz)
            products = (wx * dx, wx * dy, wx * dz, wy * dy, wy * dz, wz * dz, wx * s, wy * s, wz * s)
            terms.append(tuple(map(f, products)))
            self._edges.append((e, close))
        return terms + [(0.0,) * 9] * (4 - len(terms))

    def _keep_lengths(self, i: int, p: Vector, weight: float) -> None:
        f = self.f
        sums = [f(f(a + b) + f(c + d)) for a, b, c, d in zip(*self._terms(i, p, weight))]
        sxx, xy, xz, syy, yz, szz, nx, ny, nz = sums
        xx, yy, zz = f(1 + sxx), f(1 + syy), f(1 + szz)
        d2 = f(f(yy * zz) - f(yz * yz))
        c1 = f(f(xy * zz) - f(xz * yz))
        c2 = f(f(xz * yy) - f(xy * yz))
        d3 = f(f(f(xx * d2) - f(xy * c1)) - f(xz * c2))
        i3, i2, i1 = f(1 / d3), f(1 / d2), f(1 / zz)
        self._variance = (f(d2 * i3), f(zz * i2), i1)
        self._root = (f(math.sqrt(f(d3 * i2))), f(math.sqrt(f(d2 * i1))), f(math.sqrt(zz)))
        self._yx, self._zx, self._zy = f(8 * f(c1 * i2)), f(8 * f(xz * i1)), f(8 * f(yz * i1))
        ax = f(8 * f(p[0] - f(f(f(f(nx * d2) - f(ny * c1)) - f(nz * c2)) * i3)))
        ay = f(f(8 * f(p[1] - f(f(f(ny * zz) - f(nz * yz)) * i2))) + f(self._yx * p[0]))
        az = f(f(f(8 * f(p[2] - f(nz * i1))) + f(self._zx * p[0])) + f(self._zy * p[1]))
        self._aim = (ax, ay, az)

    def expect(self, c: int) -> Tuple[int, int, int]:
        """Returns for component c (section 7) the expected displacement, the residual's context and its low bits."""
        f = self.f
        center = self._aim[c]
        if c == 1:
            center = f(center - f(self._yx * self._y[0]))
        elif c == 2:
            center = f(f(center - f(self._zx * self._y[0])) - f(self._zy * self._y[1]))
        self._center = center
        place = self.bits(center + _ROUNDER) - _ROUNDER_BITS
        level = f(f(self._act * self._act) * self._variance[c])
        bin_ = min(_LAST_BIN, (self.bits(level + 1) - _ONE_BITS) >> 23)
        base = _wrapped(place + 4) >> 3
        if bin_ < _SHIFTED_BIN:
            return base, 8 * bin_ + (place & 7), 0
        return base, 8 * _SHIFTED_BIN + (bin_ & 1), (bin_ - 12) // 2

    def settle(self, c: int, y: int) -> None:
        """Records the decoded displacement of component c."""
        f = self.f
        rounded = f(y)
        self._y.append(rounded)
        self._own = f(self._own + f(abs(f(f(8 * rounded) - self._center)) * self._root[c]))

    def leave(self) -> None:
        """Ends the particle: stores its displacement, activity and stretch for later particles."""
        f = self.f
        y = (self._y[0], self._y[1], self._y[2])
        self._moved.append(y)
        self._activity.append(self._own)
        if self._edges is not None:
            terms = [0.0] * 4
            for slot, (u, (e, close)) in enumerate(zip(self._around, self._edges)):
                mx, my, mz = self._moved[u]
                s = self._excess(e, (f(y[0] - mx), f(y[1] - my), f(y[2] - mz)))
                terms[slot] = f(f(s * close) * s)
            total = f(f(terms[0] + terms[1]) + f(terms[2] + terms[3]))
            self._t = min(_STRETCH_LIMIT, f(total * _INVERSE[len(self._around)]))
        self._stretch.append(self._t)


def _wrapped(x: int) -> int:
    """Wraps to a signed 32-bit integer."""
    return ((x + 2**31) & 0xFFFFFFFF) - 2**31


def checksum(frame: Sequence[int]) -> int:
    """Checksum of a decoded frame (section 8)."""
    mixed = []
    for c in range(3):
        h = c + 1
        for value in frame[c::3]:
            h = ((h ^ (value & 0xFFFFFFFF)) * 0x9E3779B1) & 0xFFFFFFFF
            h ^= h >> 15
        mixed.append(h)
    h = (mixed[0] ^ mixed[1] * 0x85EBCA6B ^ mixed[2] * 0xC2B2AE35) & 0xFFFFFFFF
    return (h ^ (h >> 16)) & 0xFFFF


class Decoder:
    """Decoder for one topology."""

    def __init__(self, bodies: Iterable[Tuple[int, Iterable[Sequence[int]]]]) -> None:
        """`bodies`: number of particles and triangles of each body."""
        self._traversals = [Traversal(count, triangles) for count, triangles in bodies]
        self.total = sum(len(traversal.order) for traversal in self._traversals)

    def decode(self, data: bytes, previous: Optional[Sequence[int]]) -> array:
        """Decodes a keyframe, or a delta against `previous`, into int32[3 * total]. Raises FrameError."""
        kind = KEYFRAME if previous is None else DELTA
        if len(data) < _HEADER.size or len(data) % 2 == 0 or data[0] != kind:
            raise FrameError(f"{len(data)} bytes of kind {data[0] if data else None} are not a frame of kind {kind}")
        if previous is not None and len(previous) != 3 * self.total:
            raise FrameError(f"the previous frame has {len(previous)} numbers, must have {3 * self.total}")
        _, expected, state = _HEADER.unpack_from(data)
        reader = _Reader(data, state)
        frame = array("i", bytes(12 * self.total)) if previous is None else array("i", previous)
        changed = 0
        first = 0
        try:
            for traversal in self._traversals:
                changed ^= reader.symbol(_FLAG)
                if changed:
                    self._read_body(reader, traversal, frame, first, previous is None)
                first += len(traversal.order)
        except (ArithmeticError, ValueError, IndexError) as error:
            raise FrameError(str(error)) from error
        reader.end()
        if checksum(frame) != expected:
            raise FrameError(f"the checksum of the decoded frame is {checksum(frame)}, must be {expected}")
        return frame

    @staticmethod
    def _read_body(reader: _Reader, traversal: Traversal, frame: array, first: int, keyframe: bool) -> None:
        places = [3 * (first + particle) for particle in traversal.order]
        previous = [(frame[at], frame[at + 1], frame[at + 2]) for at in places]
        predictor = _Predictor(traversal, previous, keyframe)
        for i, at in enumerate(places):
            predictor.enter(i)
            for c in range(3):
                base, context, shift = predictor.expect(c)
                y = _wrapped(base + reader.residual(context, shift))
                now = _wrapped(previous[i][c] + y)
                if not -_LIMIT <= now <= _LIMIT:
                    raise FrameError(f"coordinate {at + c} is {now}, must be within +-{_LIMIT}")
                frame[at + c] = now
                predictor.settle(c, y)
            predictor.leave()
