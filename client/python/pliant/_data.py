"""Checks of application messages. The server closes the connection of a member that sends other data."""

from __future__ import annotations

import math
import re
from typing import Any, Optional

#: Entries of one list or map, and nesting; the server refuses deeper data with a notice.
_MOST_ENTRIES = 64
_MOST_DEPTH = 64
_KIND = re.compile(r"[A-Za-z][A-Za-z0-9._:-]{0,31}")
KIND_FORM = "1 to 32 of A-Z, a-z, 0-9 and . _ : -, starting with a letter"


def is_kind(value: Any) -> bool:
    return isinstance(value, str) and _KIND.fullmatch(value) is not None


def problem_of(value: Any, depth: int = 0) -> Optional[str]:
    """The first part of `value` that a message cannot hold; None: all is well."""
    if value is None or isinstance(value, (bool, bytes, bytearray)):
        return None
    if isinstance(value, int):
        return None if -(2**63) <= value < 2**63 else "a number of more than 64 bits"
    if isinstance(value, float):
        return None if math.isfinite(value) else "a number that is not finite"
    if isinstance(value, str):
        return None if value.isascii() or _is_utf8(value) else "a string that is not UTF-8"
    if not isinstance(value, (list, tuple, dict)):
        return f"a {type(value).__name__}"
    if len(value) > _MOST_ENTRIES:
        return f"a list or map of {len(value)} entries"
    if depth == _MOST_DEPTH:
        return f"more than {_MOST_DEPTH} levels"
    if isinstance(value, dict):
        if not all(isinstance(key, str) and _is_utf8(key) and key != "__proto__" for key in value):
            return "a map with an invalid key"
        value = value.values()
    return next(filter(None, (problem_of(part, depth + 1) for part in value)), None)


def _is_utf8(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
