"""Changes of a room's physics: Python's names of the fields of `tune`, and checks before they are sent."""

from __future__ import annotations

import math
from typing import Any, Callable, Dict, Mapping

from .errors import PliantError

#: Fields of a body, by their names here. `yield` is a keyword.
_OF_BODY = {
    "damping": "damping",
    "friction": "friction",
    "density": "density",
    "youngs_modulus": "youngsModulus",
    "poissons_ratio": "poissonsRatio",
    "bending_stiffness": "bendingStiffness",
    "pressure": "pressure",
    "yield_strain": "yield",
    "modes": "modes",
    "steps": "steps",
    "pins": "pins",
}
_NAMES = {"gravity": "gravity", "wind": "wind", "time_scale": "timeScale", "as_scene": "asScene", **_OF_BODY}
_WIND = ("velocity", "density", "drag", "lift", "intensity", "scale", "seed")


def is_of_body(field: str) -> bool:
    return field in _OF_BODY


def change_of(fields: Mapping[str, Any]) -> Dict[str, Any]:
    """The map of a `tune` message. The server checks ranges, which depend on the scene."""
    change: Dict[str, Any] = {}
    for field, value in fields.items():
        if field not in _NAMES:
            raise PliantError.argument(field, value, f"one of the fields {', '.join(_NAMES)}")
        change[_NAMES[field]] = _value(field, value)
    if not change:
        raise PliantError.argument("change", "empty", f"at least one of {', '.join(_NAMES)}")
    return change


def _value(field: str, value: Any) -> Any:
    if field in ("pins", "as_scene"):
        if isinstance(value, bool) and (value or field == "pins"):
            return value
        raise PliantError.argument(field, value, "True or False" if field == "pins" else "True")
    if field == "gravity":
        return _checked(field, value, _is_vector, "three finite numbers")
    if field != "wind":
        return _checked(field, value, _is_number, "a finite number")
    _checked(field, value, lambda wind: isinstance(wind, Mapping), f"a map of {', '.join(_WIND)}")
    for part, number in value.items():
        _checked("wind", part, _WIND.__contains__, f"one of {', '.join(_WIND)}")
        is_right = _is_vector if part == "velocity" else _is_number
        _checked(f"wind.{part}", number, is_right, "three finite numbers" if part == "velocity" else "a finite number")
    return {part: list(number) if part == "velocity" else number for part, number in value.items()}


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)


def _is_vector(value: Any) -> bool:
    return isinstance(value, (list, tuple)) and len(value) == 3 and all(map(_is_number, value))


def _checked(field: str, value: Any, is_right: Callable[[Any], bool], limit: str) -> Any:
    if not is_right(value):
        raise PliantError.argument(field, value, limit)
    return list(value) if isinstance(value, tuple) else value
