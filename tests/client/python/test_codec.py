"""The codec decodes the frames of docs/protocol.json to their integers, refuses other bytes, and has its tables."""

import json
import random
import unittest
from pathlib import Path

from pliant._codec import Decoder, FrameError, Traversal
from pliant._tables import ROWS

PROTOCOL = json.loads((Path(__file__).parents[3] / "docs/protocol.json").read_text("utf-8"))


def triangles(flat):
    return list(zip(flat[::3], flat[1::3], flat[2::3]))


def decoder(vectors):
    return Decoder([(body["count"], triangles(body["triangles"])) for body in vectors["bodies"]])


class Codec(unittest.TestCase):
    def test_tables_are_those_of_the_protocol(self):
        self.assertEqual(ROWS, PROTOCOL["frame"]["frequencies"])

    def test_every_vector_decodes(self):
        for vectors in PROTOCOL["vectors"]["frames"]:
            codec = decoder(vectors)
            previous = None
            for index, frame in enumerate(vectors["frames"]):
                with self.subTest(vectors["name"], frame=index):
                    previous = codec.decode(bytes.fromhex(frame["hex"]), previous)
                    self.assertEqual(previous.tolist(), frame["positions"])

    def test_the_example_of_the_page(self):
        codec = Decoder([(5, [(0, 1, 2), (2, 1, 3), (2, 3, 4)]), (2, [])])
        self.assertEqual(Traversal(5, [(0, 1, 2), (2, 1, 3), (2, 3, 4)]).order, [0, 2, 1, 3, 4])
        keyframe = codec.decode(bytes.fromhex("2187814f3ae71811fd1f9e8664af20a52247c519808c17c84c89e61000"), None)
        self.assertEqual(keyframe.tolist()[:6], [0, 1000, 0, 100, 1000, 0])
        moved = codec.decode(bytes.fromhex("2217f72cf89400603f8f38273d"), keyframe)
        self.assertEqual(moved.tolist()[3:9], [101, 996, 0, 0, 996, 101])
        self.assertEqual(keyframe.tolist()[:6], [0, 1000, 0, 100, 1000, 0])

    def test_whatever_is_no_whole_frame_is_refused(self):
        vectors = PROTOCOL["vectors"]["frames"][0]
        codec = decoder(vectors)
        first, second = (bytes.fromhex(frame["hex"]) for frame in vectors["frames"][:2])
        previous = codec.decode(first, None)
        chance = random.Random(1)
        bad = [b"", first[:3], first[:-2], first + b"\0\0", b"\x22" + first[1:], first[:-1]]
        for data in bad:
            self.assertRaises(FrameError, codec.decode, data, None)
        self.assertRaises(FrameError, codec.decode, second, previous[:-3])
        refused = 0
        for _ in range(300):
            data = bytearray(second)
            data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
            try:
                codec.decode(bytes(data), previous)
            except FrameError:
                refused += 1
        # One in 65,536 has the right checksum by chance.
        self.assertGreaterEqual(refused, 299)


if __name__ == "__main__":
    unittest.main()
