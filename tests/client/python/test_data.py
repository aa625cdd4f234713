"""Arguments of tune and send are checked before they are sent."""

import math
import threading
import unittest

from pliant import PliantError
from pliant._data import is_kind, problem_of
from pliant._feed import MOST, Feed
from pliant._tuning import change_of


class Data(unittest.TestCase):
    def test_json_data_and_bytes_may_be_sent(self):
        for value in (None, True, 2**63 - 1, 0.5, "Zoë", b"\0\xff", [1, [2]], {"a": {"b": [None]}}, (1, 2)):
            self.assertIsNone(problem_of(value), repr(value))

    def test_other_data_are_refused(self):
        deep = []
        for _ in range(100_000):
            deep = [deep]
        cyclic = []
        cyclic.append(cyclic)
        values = (math.nan, math.inf, 2**63, "\ud800", object(), {1: 2}, {"__proto__": 1}, [0] * 65, {1, 2})
        for value in (*values, deep, cyclic, [[math.nan]]):
            self.assertIsNotNone(problem_of(value))

    def test_kinds(self):
        self.assertEqual([is_kind(kind) for kind in ("a", "chat:v1", "", "9", "two words", "x" * 33, "a\n", 7)],
                         [True, True, False, False, False, False, False, False])  # fmt: skip


class Tuning(unittest.TestCase):
    def test_names_are_those_of_the_protocol(self):
        change = change_of({"gravity": (0, -1, 0), "time_scale": 0, "youngs_modulus": 1e4, "yield_strain": 0.1, "pins": False,
                            "wind": {"velocity": (1, 0, 0), "density": 1.2}})  # fmt: skip
        self.assertEqual(change, {"gravity": [0, -1, 0], "timeScale": 0, "youngsModulus": 1e4, "yield": 0.1, "pins": False,
                                  "wind": {"velocity": [1, 0, 0], "density": 1.2}})  # fmt: skip

    def test_other_fields_and_values_are_refused_with_field_value_and_limit(self):
        cases = [("mass", 1), ("gravity", 1), ("gravity", [0, math.nan, 0]), ("friction", "1"), ("friction", True),
                 ("pins", 1), ("as_scene", False), ("wind", 3), ("wind.drag", {"drag": math.inf})]  # fmt: skip
        for field, value in cases:
            with self.subTest(field), self.assertRaises(PliantError) as caught:
                change_of({field.split(".")[0]: value})
            error = caught.exception
            self.assertEqual((error.code, error.details["field"], set(error.details)),
                             ("BAD_ARGUMENT", field, {"field", "value", "limit"}))  # fmt: skip
        self.assertRaises(PliantError, change_of, {})


class Feeds(unittest.TestCase):
    def test_every_event_comes_once_then_the_error(self):
        ended = []
        feed = Feed(threading.Condition(), lambda: ended[0] if ended else None)
        for number in range(3):
            feed.put(number)
        events = feed.each(0.01)
        self.assertEqual([next(events) for _ in range(3)], [0, 1, 2])
        self.assertRaises(TimeoutError, next, events)
        feed.put(3)
        ended.append(PliantError("LEFT", "left"))
        events = feed.each(None)
        self.assertEqual(next(events), 3)
        self.assertRaises(PliantError, next, events)

    def test_a_slow_caller_keeps_the_newest(self):
        feed = Feed(threading.Condition(), lambda: None)
        for number in range(MOST + 5):
            feed.put(number)
        self.assertEqual(next(feed.each(None)), 5)
