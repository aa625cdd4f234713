"""Client of a Pliant server: joins rooms of soft bodies and cloth, which the server simulates for all members.

    import pliant

    with pliant.join("http://localhost:8080/r/my-room", scene="bunny") as room:
        with room.grab("bunny", (0, 0.3, 0)) as grab:
            grab.move((0, 0.6, 0))
            for frame in room.frames():
                print(frame.tick, frame.positions("bunny")[0, 1])
"""

from .errors import PliantError
from .frames import Body, Frame, Topology
from .room import REACTIONS, Contact, Grab, Line, Message, Reaction, Room, join

__all__ = [
    "REACTIONS",
    "Body",
    "Contact",
    "Frame",
    "Grab",
    "Line",
    "Message",
    "PliantError",
    "Reaction",
    "Room",
    "Topology",
    "join",
]
