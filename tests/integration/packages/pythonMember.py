"""A member of a room for pythonClient.test.ts: joins the room at argv[1], grabs its first body for argv[2] frames,
releases it, leaves, and prints its frames as JSON, each as SHA-256 of its int32 (little-endian)."""

import hashlib
import json
import math
import sys
from array import array

import pliant

url, count, options = sys.argv[1], int(sys.argv[2]), json.loads(sys.argv[3])
frames = []
with pliant.join(url, name="Python", timeout=120, **options) as room:
    body = next(body for body in room.bodies if body.index not in room.spawnable)
    place = room.positions(body).tolist()[body.triangles[0, 0]]
    together = body.index in room.topology.together
    for wrong in ({"triangle": 1.5}, {"triangle": -1}, {"triangle": 0, "u": math.nan}):
        try:
            room.grab(body, **wrong)  # Sent, any of them would end the connection.
            raise SystemExit(f"grab accepted {wrong}")
        except pliant.PliantError as error:
            assert set(error.details) == {"field", "value", "limit"}, error.details
    hand = room.grab(body, place, to=[place[0] + 0.1, place[1] + 0.4, place[2]], together=together)
    for frame in room.frames(timeout=60):
        frames.append([frame.tick, hashlib.sha256(array("i", frame.numbers).tobytes()).hexdigest()])
        # Moves to and fro, so that a long pull stays inside the room.
        hand.move([place[0], place[1] + 0.4, place[2] + 0.01 * abs((len(frames) + 40) % 80 - 40)])
        if len(frames) == count:
            break
    last = {body.name: [frame.quantized(body).tolist(), frame.positions(body).tolist()] for body in room.bodies}
    hand.release()
    json.dump({"member": room.member, "body": body.index, "frames": frames, "last": last}, sys.stdout)
