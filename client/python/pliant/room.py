"""Membership of a room: joins, receives frames, and acts."""

from __future__ import annotations

import json
import math
import threading
import urllib.error
import urllib.request
from collections import deque
from typing import Any, Deque, Dict, Iterator, List, NamedTuple, Optional, Sequence, Set, Tuple
from urllib.parse import parse_qs, quote, urlsplit

from ._chain import Chain
from ._data import KIND_FORM, is_kind, problem_of
from ._feed import Feed
from ._msgpack import pack, unpack
from ._tuning import change_of, is_of_body
from ._websocket import Closed, WebSocket
from .errors import PliantError
from .frames import Body, BodyKey, Frame, Topology, little_endian

_VERSION = 2
_HELLO, _GRAB, _MOVE, _RELEASE, _IMPULSE, _RESET, _NEED_KEYFRAME, _SPAWN, _REMOVE = 1, 2, 3, 4, 5, 6, 9, 10, 11
_MESSAGE, _TUNE, _UNDO, _REACT, _SAY, _DRESS, _PIN, _UNPIN = 14, 15, 16, 17, 18, 19, 20, 21
_WELCOME, _KEYFRAME, _DELTA, _MEMBERS, _NOTICE, _WAITING, _HEARD, _POSITIONS = 64, 65, 66, 67, 71, 73, 75, 76
_CONTACTS, _TUNED, _REACTIONS, _SAID, _LOOKS, _PINS = 77, 78, 80, 81, 82, 83
#: Reactions by their number in the protocol.
REACTIONS = ("👍", "👏", "😂", "😮", "❤️", "🎉")
#: Time without messages after which the connection is lost, s; the server sends at least every 3 s.
_SILENCE = 10.0
_NOTICES = 100


class Message(NamedTuple):
    """A message of another member. `data` is JSON data or bytes."""

    member: int
    kind: str
    data: Any


class Line(NamedTuple):
    """A line of chat, with the author's name and color at that time."""

    member: int
    name: str
    color: str
    text: str


class Reaction(NamedTuple):
    """A reaction of a member, an element of `REACTIONS`; a later server may have more of them, given as numbers."""

    member: int
    reaction: Any


class Contact(NamedTuple):
    """Two bodies that began to touch, the one with the smaller index first."""

    tick: int
    bodies: Tuple[Body, Body]


def join(
    url: str,
    *,
    name: Optional[str] = None,
    color: Optional[str] = None,
    token: Optional[str] = None,
    password: Optional[str] = None,
    scene: Optional[str] = None,
    mode: str = "simple",
    hz: Optional[float] = None,
    contacts: bool = False,
    timeout: float = 30.0,
) -> Room:
    """Joins the room with the page `url`, http(s)://host[:port]/r/<room>, and returns when the first frame has arrived.

    With `scene` the room is created if it does not exist. `mode` is the format of frames: `simple` sends whole frames,
    at most `hz` a second (1 to 20); `codec` needs a tenth of the bytes, and decoding takes about 0.1 ms for each
    moving particle. With `contacts` the server reports new contacts. The token of a link with `#token=` is used. Raises PliantError, or TimeoutError after `timeout` s.
    """
    parts = urlsplit(url)
    folder, _, room = parts.path.rstrip("/").rpartition("/")
    if parts.scheme not in ("http", "https") or not folder.endswith("/r") or not room:
        raise PliantError.argument("url", url, "http(s)://host/r/<room>")
    if mode not in ("simple", "codec") or (mode == "codec" and hz is not None):
        raise PliantError.argument("mode", mode, f"simple, or codec without hz (it is {hz})")
    base = f"{parts.scheme}://{parts.netloc}{folder[:-2]}"
    token = token or parse_qs(parts.fragment).get("token", [None])[0]
    if scene is not None:
        token = token or _open(base, room, scene, timeout)
    said: Dict[str, Any] = {"name": name, "color": color, "token": token, "password": password, "hz": hz}
    if mode == "simple":
        said["mode"] = mode
    if contacts:
        said["contacts"] = True
    joined = Room(base, room, {key: value for key, value in said.items() if value is not None}, timeout)
    try:
        joined.wait(timeout=timeout)
    except BaseException:
        joined.leave()
        raise
    return joined


class Grab:
    """A grab of one point of a body. As a context manager it releases the point at the end."""

    def __init__(self, room: Room, grab: int) -> None:
        self._room = room
        self._grab = grab
        self.held = True

    def move(self, to: Sequence[float]) -> None:
        """Moves the target of the pull, m. The server accepts 60 inputs a second."""
        if self.held:
            self._room._send(_MOVE, self._grab, *_point("to", to))

    def release(self) -> None:
        if self.held:
            self.held = False
            self._room._grabs.pop(self._grab, None)
            try:
                self._room._send(_RELEASE, self._grab)
            except PliantError:
                pass  # Without a connection the server has released it.

    def pin(self) -> None:
        """Asks the server to turn the grab into a pin, which stays when this member lets go or leaves. The grab ends:
        if the server refuses the pin (a notice), it releases the point."""
        if self.held:
            self._room._send(_PIN, self._grab)
            self.release()

    def __enter__(self) -> Grab:
        return self

    def __exit__(self, *_error: object) -> None:
        self.release()


class Room:
    """Returned by `join`. A thread receives messages. As a context manager it leaves the room at the end."""

    def __init__(self, base: str, room: str, said: Dict[str, Any], timeout: float) -> None:
        self._news = threading.Condition()
        self._frame: Optional[Frame] = None
        self._ended: Optional[PliantError] = None
        self._grabs: Dict[int, Grab] = {}
        #: Rows of [member, name, color, connected, role].
        self.members: List[List[Any]] = []
        #: The last hundred notices of the server, with `code`, `text` and `details`.
        self.notices: Deque[Dict[str, Any]] = deque(maxlen=_NOTICES)
        #: Indices of the spawnable bodies that are not in the room; their positions in frames are meaningless.
        self.spawnable: Set[int] = set()
        #: Looks that members gave bodies, by name of the body.
        self.looks: Dict[str, Dict[str, Any]] = {}
        #: Pins of the room by number: `by` (member), `body` (name), `triangle`, `u`, `v`, `target`, `together`.
        self.pins: Dict[int, Dict[str, Any]] = {}
        #: The newest `tuned` of the server: `tick`, `member` (the author of the change), and the complete physics. None before it.
        self.tuning: Optional[Dict[str, Any]] = None
        self._heard: Feed[Message] = Feed(self._news, lambda: self._ended)
        self._said: Feed[Line] = Feed(self._news, lambda: self._ended)
        self._reacted: Feed[Reaction] = Feed(self._news, lambda: self._ended)
        self._touched: Feed[Contact] = Feed(self._news, lambda: self._ended)
        try:
            self._socket = WebSocket(f"ws{base[4:]}/api/rooms/{quote(room)}/socket", timeout, _SILENCE)
            self._socket.send(pack([_HELLO, _VERSION, said]))
            kind, *fields = unpack(self._socket.receive())
        except Closed as closed:
            raise PliantError.closed(closed.code, closed.reason) from closed
        except OSError as error:
            raise PliantError("UNREACHABLE", str(error)) from error
        if kind != _WELCOME or fields[0].get("mode") != said.get("mode"):
            self._socket.close()
            raise PliantError("BAD_ANSWER", "the server does not know simple mode")
        self.welcome: Dict[str, Any] = fields[0]
        answer = _request(f"{base}/api/topologies/{self.welcome['topology']}", None, timeout)
        self.topology = Topology(unpack(answer))
        self._chain = None if "mode" in said else Chain(self.topology, self._show, self._ask)
        self._thread = threading.Thread(target=self._listen, name=f"pliant {room}", daemon=True)
        self._thread.start()

    @property
    def bodies(self) -> List[Body]:
        return self.topology.bodies

    @property
    def member(self) -> int:
        """This member's number in `members`."""
        return self.welcome["member"]

    @property
    def frame(self) -> Frame:
        """The newest frame."""
        assert self._frame is not None
        return self._frame

    @property
    def tick(self) -> int:
        return self.frame.tick

    def positions(self, body: BodyKey) -> memoryview:
        """float64 (count, 3) of the newest frame, m."""
        return self.frame.positions(body)

    def quantized(self, body: BodyKey) -> memoryview:
        """int32 (count, 3) of the newest frame, exactly as the server has them."""
        return self.frame.quantized(body)

    def wait(self, after: Optional[Frame] = None, timeout: Optional[float] = 10.0) -> Frame:
        """Waits for a frame other than `after` and returns the newest one. A room at rest sends none.

        Raises TimeoutError after `timeout` seconds, and PliantError when the room has ended.
        """
        with self._news:
            if not self._news.wait_for(lambda: self._frame is not after or self._ended, timeout):
                raise TimeoutError(f"no frame within {timeout} s")
            if self._frame is after:
                assert self._ended is not None
                raise self._ended
            return self.frame

    def frames(self, timeout: Optional[float] = None) -> Iterator[Frame]:
        """Yields frames as they arrive. A slow caller gets the newest one and misses some."""
        frame = None
        while True:
            frame = self.wait(frame, timeout)
            yield frame

    def grab(
        self,
        body: BodyKey,
        at: Optional[Sequence[float]] = None,
        *,
        to: Optional[Sequence[float]] = None,
        triangle: Optional[int] = None,
        u: float = 0.0,
        v: float = 0.0,
        together: bool = False,
    ) -> Grab:
        """Grabs a body: the surface particle nearest to the place `at`, m, or the point (1-u-v) a + u b + v c of a
        triangle. Pulls towards `to`; default: `at`, or the point itself. `together`: grabs the same place of all
        bodies in `topology.together`."""
        where = self.topology.body(body)
        if together and where.index not in self.topology.together:
            limit = f"set for one of {self.topology.together}: body {where.index} is grabbed alone"
            raise PliantError.argument("together", together, limit)
        point = self._surface_point(where, at, triangle, u, v)
        target = _point("to", to if to is not None else at if at is not None else self._place(where, *point))
        limit = self.welcome["limits"]["grabsPerMember"]
        free = [grab for grab in range(limit) if grab not in self._grabs]
        if not free:
            raise PliantError("GRAB_LIMIT", f"this member already has the maximum of {limit} grabs", limit=limit)
        grab = self._grabs[free[0]] = Grab(self, free[0])
        self._send(_GRAB, free[0], where.index, *point, *target, *([{"together": True}] if together else []))
        return grab

    def push(self, body: BodyKey, at: Sequence[float], impulse: Sequence[float]) -> None:
        """Pushes the surface particle nearest to `at`, m; `impulse` in N s."""
        where = self.topology.body(body)
        point = self._surface_point(where, at, None, 0.0, 0.0)
        self._send(_IMPULSE, where.index, *point, *_point("impulse", impulse))

    def spawn(self, body: BodyKey, position: Sequence[float]) -> None:
        """Puts a spawnable body into the room, the middle of its underside at `position`, m."""
        self._send(_SPAWN, self.topology.body(body).index, *_point("position", position))

    def remove(self, body: BodyKey) -> None:
        """Takes a spawnable body out."""
        self._send(_REMOVE, self.topology.body(body).index)

    def dress(self, body: BodyKey, **change: Optional[str]) -> None:
        """Changes the look of a spawnable body for everyone: `color` (#rrggbb), `finish`, `text`. None: as in the scene."""
        self._send(_DRESS, self.topology.body(body).index, change)

    def unpin(self, pin: Optional[int]) -> None:
        """Removes a pin of any member; None: all pins, for owners."""
        self._send(_UNPIN, pin)

    def reset(self) -> None:
        """Restarts the scene for everyone."""
        self._send(_RESET)

    def undo(self) -> None:
        """Undoes this member's last act that is separable from the acts of the others; an owner's call undoes the last
        act of any member. A refusal is a notice, `NOTHING_TO_UNDO` or `NOT_SEPARABLE`."""
        self._send(_UNDO)

    def tune(self, body: Optional[BodyKey] = None, **change: Any) -> None:
        """Changes the physics for everyone; for owners. Fields: `gravity`, `wind` (a map), `time_scale`, `as_scene`;
        with `body` also `damping`, `friction`, `density`, `youngs_modulus`, `poissons_ratio`, `bending_stiffness`,
        `pressure`, `yield_strain`, `modes`, `steps`, `pins`. The answer is a new `tuning`, or a notice."""
        fields = change_of(change)
        if body is not None:
            fields["body"] = self.topology.body(body).index
        elif any(map(is_of_body, change)):
            limit = "a body, because the change is about damping, friction or material"
            raise PliantError.argument("body", None, limit)
        self._send(_TUNE, fields)

    def send(self, kind: str, data: Any = None) -> None:
        """Sends a message to the members that are connected now. `data`: JSON data or bytes, at most 2048 bytes of
        msgpack. The server answers a message beyond its limits with a notice."""
        if not is_kind(kind):
            raise PliantError.argument("kind", kind, KIND_FORM)
        problem = problem_of(data)
        if problem is not None:
            raise PliantError.argument("data", problem, "JSON data or bytes")
        self._send(_MESSAGE, kind, data)

    def messages(self, timeout: Optional[float] = None) -> Iterator[Message]:
        """Yields the messages of other members, each once and in order. A thousand wait for a slow caller."""
        return self._heard.each(timeout)

    def contacts(self, timeout: Optional[float] = None) -> Iterator[Contact]:
        """Yields new contacts between bodies, each once, of a room that was joined with `contacts=True`."""
        return self._touched.each(timeout)

    def react(self, reaction: str) -> None:
        """Shows an element of `REACTIONS` at this member's cursor for a moment."""
        if reaction not in REACTIONS:
            raise PliantError.argument("reaction", reaction, f"one of {' '.join(REACTIONS)}")
        self._send(_REACT, REACTIONS.index(reaction))

    def say(self, text: str) -> None:
        """Writes a line in the room's chat, at most 200 characters. All members get it, also this one."""
        if not isinstance(text, str) or problem_of(text) is not None:
            raise PliantError.argument("text", text, "a string")
        self._send(_SAY, text)

    def lines(self, timeout: Optional[float] = None) -> Iterator[Line]:
        """Yields the lines of the chat, each once and in order, first the last ones before this member came."""
        return self._said.each(timeout)

    def reactions(self, timeout: Optional[float] = None) -> Iterator[Reaction]:
        """Yields reactions of all members, also this one's, each once."""
        return self._reacted.each(timeout)

    def leave(self) -> None:
        """Leaves the room."""
        self._socket.close()
        if self._thread is not threading.current_thread():
            self._thread.join(_SILENCE)

    def __enter__(self) -> Room:
        return self

    def __exit__(self, *_error: object) -> None:
        self.leave()

    def _surface_point(
        self, body: Body, at: Optional[Sequence[float]], triangle: Optional[int], u: float, v: float
    ) -> Tuple[int, float, float]:
        triangles = body.triangles.tolist()
        places = len(triangles) or body.count
        if triangle is not None:
            if not isinstance(triangle, int) or not 0 <= triangle < places:
                raise PliantError.argument("triangle", triangle, f"a whole number from 0 to {places - 1}")
            for field, value in (("u", u), ("v", v)):
                if not isinstance(value, (int, float)) or not math.isfinite(value):
                    raise PliantError.argument(field, value, "a finite number")
            return triangle, float(u), float(v)
        target = _point("at", at)
        positions = self.positions(body).tolist()
        if not triangles:
            return min((math.dist(place, target), p) for p, place in enumerate(positions))[1], 0.0, 0.0
        nearest = min((math.dist(positions[p], target), p) for corners in triangles for p in corners)[1]
        chosen = next(t for t, corners in enumerate(triangles) if nearest in corners)
        corner = triangles[chosen].index(nearest)
        return chosen, float(corner == 1), float(corner == 2)

    def _place(self, body: Body, triangle: int, u: float, v: float) -> List[float]:
        positions = self.positions(body).tolist()
        if len(body.triangles) == 0:
            return positions[triangle]
        a, b, c = (positions[p] for p in body.triangles.tolist()[triangle])
        return [(1 - u - v) * a[k] + u * b[k] + v * c[k] for k in range(3)]

    def _send(self, *message: Any) -> None:
        if self._ended is not None:
            raise self._ended
        try:
            self._socket.send(pack(list(message)))
        except Closed as closed:
            raise PliantError.closed(closed.code, closed.reason) from closed

    def _ask(self) -> None:
        """Asks for a keyframe."""
        try:
            self._socket.send(pack([_NEED_KEYFRAME]))
        except Closed:
            pass  # The listening thread reports it.

    def _listen(self) -> None:
        try:
            while True:
                self._take(*unpack(self._socket.receive()))
        except Closed as closed:
            ended = PliantError.closed(closed.code, closed.reason)
        except Exception as error:  # reported to callers of `wait`
            self._socket.close()
            ended = PliantError("BAD_ANSWER", repr(error))
        if self._chain is not None:
            self._chain.end()
        with self._news:
            self._ended = ended
            self._news.notify_all()

    def _pin(self, by: int, body: int, triangle: int, u: float, v: float, *more: Any) -> Dict[str, Any]:
        where = {"body": self.topology.body(body).name, "triangle": triangle, "u": u, "v": v}
        return {"by": by, **where, "target": tuple(more[:3]), "together": len(more) > 3 and more[3] is True}

    def _take(self, kind: int, *fields: Any) -> None:
        if kind == _POSITIONS:
            self._show(Frame(fields[0], little_endian("i", fields[1]), self.topology))
        elif kind in (_KEYFRAME, _DELTA) and self._chain is not None:
            self._chain.take(fields[0], fields[1] if kind == _DELTA else None, fields[-1])
        elif kind == _MEMBERS:
            self.members = fields[0]
        elif kind == _WAITING:
            self.spawnable = set(fields[1])
        elif kind == _LOOKS:
            self.looks.update((self.topology.body(row[0]).name, row[1]) for row in fields[1])
        elif kind == _PINS:
            self.pins = {row[1]: self._pin(row[0], *row[2:]) for row in fields[1]}
        elif kind == _HEARD:
            self._heard.put(Message(*fields[:3]))
        elif kind == _CONTACTS:
            for pair in fields[1]:
                self._touched.put(Contact(fields[0], tuple(self.topology.body(body) for body in pair)))
        elif kind == _SAID:
            for line in fields[0]:
                self._said.put(Line(*line[:4]))
        elif kind == _REACTIONS:
            for member, number in (row[:2] for row in fields[0]):
                self._reacted.put(Reaction(member, REACTIONS[number] if number < len(REACTIONS) else number))
        elif kind == _TUNED:
            self._take_tuning(*fields)
        elif kind == _NOTICE:
            self.notices.append(dict(zip(("code", "text", "details"), fields)))

    def _take_tuning(self, tick: int, gravity: List[float], rows: List[Any], member: int, more: Dict[str, Any]) -> None:
        bodies = {
            self.topology.body(body).name: {"damping": damping, "friction": friction, **material}
            for body, damping, friction, material in rows
        }
        with self._news:
            self.tuning = {"tick": tick, "gravity": gravity, "bodies": bodies, "member": member, **more}
            self._news.notify_all()

    def _show(self, frame: Frame) -> None:
        if len(frame.numbers) != 3 * self.topology.particles:
            raise ValueError(f"a frame of {len(frame.numbers)} numbers, must be {3 * self.topology.particles}")
        with self._news:
            self._frame = frame
            self._news.notify_all()


def _point(field: str, value: Optional[Sequence[float]]) -> List[float]:
    try:
        point = [float(part) for part in value or ()]
    except (TypeError, ValueError):
        point = []
    if len(point) != 3 or not all(map(math.isfinite, point)):
        raise PliantError.argument(field, value, "three finite numbers")
    return point


def _open(base: str, room: str, scene: str, timeout: float) -> Optional[str]:
    """Creates the room if it does not exist. Returns the owner's token if it was created now."""
    return json.loads(_request(f"{base}/api/rooms", {"scene": scene, "room": room}, timeout)).get("token")


def _request(url: str, body: Any, timeout: float) -> bytes:
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(url, data, {"content-type": "application/json"} if data else {})
    try:
        with urllib.request.urlopen(request, timeout=timeout) as answer:
            return answer.read()
    except urllib.error.HTTPError as error:
        try:
            fields = json.loads(error.read())
        except ValueError:
            fields = {}
        code = fields.pop("code", "BAD_ANSWER")
        raise PliantError(code, fields.pop("message", str(error)), status=error.code, **fields) from error
    except OSError as error:
        raise PliantError("UNREACHABLE", str(error)) from error
