"""A broken chain of frames requests a keyframe once, and continues with it."""

import json
import struct
import threading
import time
import unittest
from pathlib import Path

from pliant import Topology
from pliant._chain import Chain

PROTOCOL = json.loads((Path(__file__).parents[3] / "docs/protocol.json").read_text("utf-8"))
VECTORS = PROTOCOL["vectors"]["frames"][0]
FRAMES = [bytes.fromhex(frame["hex"]) for frame in VECTORS["frames"]]


def topology():
    bodies = []
    first = 0
    for body in VECTORS["bodies"]:
        count, flat = body["count"], body["triangles"]
        bodies.append({
            "name": str(first), "kind": "cloth", "first": first, "count": count, "quantum": 1,
            "triangles": struct.pack(f"<{len(flat)}I", *flat), "rest": b"\0" * 12 * count,
        })  # fmt: skip
        first += count
    return Topology({"version": 1, "particles": first, "tickHz": 60, "origin": [0, 0, 0], "bodies": bodies})


class Chains(unittest.TestCase):
    def setUp(self):
        self.shown = []
        self.asked = 0
        self.gate = threading.Event()
        self.gate.set()
        self.chain = Chain(topology(), self.show, self.ask)
        self.addCleanup(self.chain.end)

    def show(self, frame):
        self.shown.append((frame.tick, list(frame.numbers)))
        self.gate.wait()

    def ask(self):
        self.asked += 1

    def until(self, done):
        end = time.monotonic() + 60
        while not done():
            self.assertLess(time.monotonic(), end)
            time.sleep(0.001)

    def expect(self, *indices):
        """Frames of the vectors by number; their ticks are twice the number."""
        self.until(lambda: len(self.shown) >= len(indices))
        self.assertEqual(self.shown, [(2 * i, VECTORS["frames"][i]["positions"]) for i in indices])

    def take(self, index, base=None):
        self.chain.take(2 * index, base, FRAMES[index])

    def test_frames_in_their_order(self):
        self.take(0)
        for index in range(1, len(FRAMES)):
            self.take(index, 2 * index - 2)
        self.expect(*range(len(FRAMES)))
        self.assertEqual(self.asked, 0)

    def test_a_gap_asks_once_and_a_keyframe_mends_it(self):
        self.take(1, 0)  # before any keyframe: nothing to decode, and a keyframe is on its way
        self.take(0)
        self.take(2, 2)
        self.until(lambda: self.asked == 1)
        self.take(3, 4)
        self.take(0)
        self.take(1, 0)
        self.expect(0, 0, 1)
        self.assertEqual(self.asked, 1)

    def test_a_damaged_frame_asks(self):
        self.take(0)
        self.chain.take(2, 0, FRAMES[1][:-2] + b"\xff\xff")
        self.until(lambda: self.asked == 1)
        self.expect(0)

    def test_who_cannot_keep_up_begins_anew(self):
        self.gate.clear()
        self.take(0)
        self.expect(0)
        for _ in range(16):
            self.take(1, 0)
        self.assertEqual(self.asked, 1)
        self.take(0)
        self.gate.set()
        self.expect(0, 0)


if __name__ == "__main__":
    unittest.main()
