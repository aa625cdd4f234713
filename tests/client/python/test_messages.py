"""The package reads and writes messages in the form of docs/protocol.json."""

import json
import math
import unittest
from pathlib import Path

from pliant import PliantError, Topology
from pliant._msgpack import pack, unpack

PROTOCOL = json.loads((Path(__file__).parents[3] / "docs/protocol.json").read_text("utf-8"))


def as_json(value):
    """Bytes as written in the file."""
    if isinstance(value, bytes):
        return {"bin": value.hex()}
    if isinstance(value, list):
        return [as_json(part) for part in value]
    if isinstance(value, dict):
        return {key: as_json(part) for key, part in value.items()}
    return value


class Messages(unittest.TestCase):
    def test_every_vector_is_read(self):
        vectors = PROTOCOL["vectors"]["messages"]
        for vector in vectors["client"] + vectors["server"]:
            with self.subTest(vector["name"]):
                message = unpack(bytes.fromhex(vector["hex"]))
                self.assertEqual(as_json(message), vector["message"])
                self.assertEqual(unpack(pack(message)), message)

    def test_every_form_of_a_value_is_read(self):
        forms = {
            "c0": None, "c2": False, "c3": True, "7f": 127, "e0": -32, "cc80": 128, "cd8000": 32768,
            "ce80000000": 2**31, "cfffffffffffffffff": 2**64 - 1, "d080": -128, "d18000": -(2**15),
            "d280000000": -(2**31), "d38000000000000000": -(2**63), "ca3f800000": 1.0, "cb3ff0000000000000": 1.0,
            "a0": "", "d901c3": None, "d90161": "a", "da000161": "a", "db0000000161": "a", "c40107": b"\7",
            "c5000107": b"\7", "c60000000107": b"\7", "9101": [1], "dc000101": [1], "dd0000000101": [1],
            "81a16107": {"a": 7}, "de0001a16107": {"a": 7}, "df00000001a16107": {"a": 7},
        }  # fmt: skip
        for hexadecimal, value in forms.items():
            with self.subTest(hexadecimal):
                if hexadecimal == "d901c3":  # invalid UTF-8
                    self.assertRaises(ValueError, unpack, bytes.fromhex(hexadecimal))
                else:
                    self.assertEqual(unpack(bytes.fromhex(hexadecimal)), value)

    def test_what_is_written_is_read_again(self):
        for value in (0, 127, 128, -1, 2**63 - 1, -(2**63), 0.1, math.inf, "Zoë", b"\0\xff", [1, [None, {"a": True}]]):
            with self.subTest(repr(value)):
                self.assertEqual(unpack(pack(value)), value)
        self.assertRaises(TypeError, pack, object())

    def test_bytes_that_are_no_message_are_refused(self):
        for bad in ("", "c1", "9a01", "c6ffffffff00", "dd7fffffff", "d9ff61", "0101", "91" * 5000):
            with self.subTest(bad[:20]):
                self.assertRaises(ValueError, unpack, bytes.fromhex(bad))


class Topologies(unittest.TestCase):
    def test_bodies_are_found_by_number_name_and_themselves(self):
        body = {
            "name": "a", "kind": "cloth", "first": 0, "count": 1, "quantum": 0.5, "triangles": b"", "rest": b"\0" * 12
        }  # fmt: skip
        fields = {"version": 1, "particles": 2, "tickHz": 60, "origin": [0, 0, 0]}
        topology = Topology({**fields, "bodies": [body, {**body, "name": "b", "first": 1, "spawnable": True}]})
        a, b = topology.bodies
        self.assertEqual([topology.body(key).name for key in (0, "b", a, b)], ["a", "b", "a", "b"])
        self.assertEqual([a.spawnable, b.spawnable], [False, True])
        for bad in (2, -1, "c", True, None):
            with self.assertRaises(PliantError) as caught:
                topology.body(bad)
            self.assertEqual((caught.exception.code, caught.exception.details["value"]), ("BAD_ARGUMENT", bad))
        with self.assertRaises(PliantError) as caught:
            Topology({**fields, "version": 2, "bodies": []})
        self.assertEqual(caught.exception.code, "BAD_ANSWER")


if __name__ == "__main__":
    unittest.main()
