"""The part of msgpack (https://msgpack.org) that the protocol uses: everything except extension types and map keys that
are not strings. Implemented here, so that the package has no dependencies."""

from __future__ import annotations

import struct
from typing import Any

_NUMBERS = {
    0xCA: ">f", 0xCB: ">d",
    0xCC: ">B", 0xCD: ">H", 0xCE: ">I", 0xCF: ">Q",
    0xD0: ">b", 0xD1: ">h", 0xD2: ">i", 0xD3: ">q",
}  # fmt: skip
_CONSTANTS = {0xC0: None, 0xC2: False, 0xC3: True}
#: By first byte, for values with a length: format of the length, and type of the value.
_SIZED = {
    0xC4: (">B", "bin"), 0xC5: (">H", "bin"), 0xC6: (">I", "bin"),
    0xD9: (">B", "str"), 0xDA: (">H", "str"), 0xDB: (">I", "str"),
    0xDC: (">H", "array"), 0xDD: (">I", "array"),
    0xDE: (">H", "map"), 0xDF: (">I", "map"),
}  # fmt: skip


def unpack(data: bytes) -> Any:
    """Decodes `data`. Raises ValueError if it is not exactly one value."""
    try:
        value, end = _read(data, 0)
    except (IndexError, struct.error, KeyError, RecursionError, UnicodeDecodeError) as error:
        raise ValueError(f"not msgpack: {error!r}") from error
    if end != len(data):
        raise ValueError(f"not msgpack: {len(data) - end} bytes after the value")
    return value


def _read(data: bytes, at: int) -> tuple[Any, int]:
    byte = data[at]
    at += 1
    if byte < 0x80:
        return byte, at
    if byte >= 0xE0:
        return byte - 0x100, at
    if byte < 0xC0:
        kind, size = ("map", byte & 15) if byte < 0x90 else ("array", byte & 15) if byte < 0xA0 else ("str", byte & 31)
    elif byte in _CONSTANTS:
        return _CONSTANTS[byte], at
    elif byte in _NUMBERS:
        layout = _NUMBERS[byte]
        return struct.unpack_from(layout, data, at)[0], at + struct.calcsize(layout)
    else:
        layout, kind = _SIZED[byte]
        (size,) = struct.unpack_from(layout, data, at)
        at += struct.calcsize(layout)
    if kind in ("bin", "str"):
        end = at + size
        if end > len(data):
            raise IndexError(f"{size} bytes at {at} of {len(data)}")
        return (data[at:end] if kind == "bin" else data[at:end].decode()), end
    values = []
    for _ in range(size if kind == "array" else 2 * size):
        value, at = _read(data, at)
        values.append(value)
    return (values if kind == "array" else dict(zip(values[::2], values[1::2]))), at


def pack(value: Any) -> bytes:
    """Encodes None, bool, 64-bit int, float, str, bytes, and lists, tuples and dicts of these."""
    if value is None or isinstance(value, bool):
        return b"\xc0" if value is None else b"\xc3" if value else b"\xc2"
    if isinstance(value, int):
        return struct.pack("B", value) if 0 <= value < 0x80 else struct.pack(">Bq", 0xD3, value)
    if isinstance(value, float):
        return struct.pack(">Bd", 0xCB, value)
    if isinstance(value, str):
        text = value.encode()
        return struct.pack(">BI", 0xDB, len(text)) + text
    if isinstance(value, (bytes, bytearray, memoryview)):
        return struct.pack(">BI", 0xC6, len(value)) + bytes(value)
    if isinstance(value, (list, tuple)):
        return struct.pack(">BI", 0xDD, len(value)) + b"".join(map(pack, value))
    if isinstance(value, dict):
        inner = b"".join(pack(part) for pair in value.items() for part in pair)
        return struct.pack(">BI", 0xDF, len(value)) + inner
    raise TypeError(f"msgpack: a {type(value).__name__} cannot be sent")
