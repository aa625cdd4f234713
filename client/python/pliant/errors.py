"""The exception of the package."""

from __future__ import annotations

from typing import Any

#: Error codes by close code of the socket (PROTOCOL.md, section 9).
_CLOSED = {
    1000: "LEFT",
    4401: "TOKEN_NEEDED",
    4403: "KICKED",
    4404: "ROOM_GONE",
    4407: "PASSWORD_NEEDED",
    4409: "VERSION_UNSUPPORTED",
    4423: "ROOM_LOCKED",
    4424: "ROOM_QUARANTINED",
    4425: "TOO_MANY_ATTEMPTS",
    4430: "ROOM_FULL",
}


class PliantError(Exception):
    """An error with a `code`; README.md lists the codes."""

    def __init__(self, code: str, message: str, **details: Any) -> None:
        super().__init__(f"{code}: {message}")
        self.code = code
        self.details = details

    @classmethod
    def argument(cls, field: str, value: Any, limit: str) -> PliantError:
        """Returns the error for an argument that is not within its limit."""
        return cls("BAD_ARGUMENT", f"{field} is {value!r}, not {limit}", field=field, value=value, limit=limit)

    @classmethod
    def closed(cls, close_code: int, reason: str) -> PliantError:
        """Returns the error for a close code of the socket."""
        code = _CLOSED.get(close_code, "LINE_LOST")
        return cls(code, f"the connection was closed with {close_code} {reason}".rstrip(), close_code=close_code)
