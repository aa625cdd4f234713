"""A WebSocket client (RFC 6455): binary messages, pings, the closing handshake. No extensions."""

from __future__ import annotations

import base64
import hashlib
import os
import socket
import ssl
import struct
import threading
from urllib.parse import urlsplit

_GUID = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
_BINARY, _CLOSE, _PING, _PONG = 2, 8, 9, 10
#: Largest accepted message, bytes: a keyframe of millions of particles is smaller.
_LARGEST = 1 << 28


class Closed(Exception):
    """The connection has ended, with the server's close code and reason; 1006 if it sent none."""

    def __init__(self, code: int, reason: str) -> None:
        super().__init__(f"closed with {code} {reason}".rstrip())
        self.code = code
        self.reason = reason


class WebSocket:
    """One thread may receive while other threads send."""

    def __init__(self, url: str, timeout: float, silence: float) -> None:
        """Opens `url` (ws: or wss:) within `timeout` s. After `silence` s without data the connection is lost."""
        parts = urlsplit(url)
        secure = parts.scheme == "wss"
        host = parts.hostname or ""
        line = socket.create_connection((host, parts.port or (443 if secure else 80)), timeout)
        line.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._line = ssl.create_default_context().wrap_socket(line, server_hostname=host) if secure else line
        self._in = self._line.makefile("rb")
        self._sending = threading.Lock()
        self._closing = False
        try:
            self._shake_hands(parts.netloc.rpartition("@")[2], parts.path)
            self._line.settimeout(silence)
        except BaseException:
            self._end()
            raise

    def _shake_hands(self, host: str, path: str) -> None:
        key = base64.b64encode(os.urandom(16)).decode()
        self._line.sendall(
            f"GET {path} HTTP/1.1\r\nHost: {host}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            f"Sec-WebSocket-Key: {key}\r\nSec-WebSocket-Version: 13\r\n\r\n".encode()
        )
        status = self._in.readline(4096).decode("latin-1").strip()
        headers = {}
        while (header := self._in.readline(65536)) not in (b"\r\n", b""):
            name, _, value = header.decode("latin-1").partition(":")
            headers[name.lower()] = value.strip()
        expected = base64.b64encode(hashlib.sha1((key + _GUID).encode()).digest()).decode()
        if status.split(" ")[1:2] != ["101"] or headers.get("sec-websocket-accept") != expected:
            raise Closed(1006, status or "no answer")

    def send(self, message: bytes) -> None:
        self._send_frame(_BINARY, message)

    def receive(self) -> bytes:
        """Returns the next message. Raises Closed at the end of the connection."""
        message = b""
        try:
            while True:
                head, size = self._read(2)
                if size >= 126:
                    (size,) = struct.unpack(">H" if size == 126 else ">Q", self._read(2 if size == 126 else 8))
                if size + len(message) > _LARGEST:
                    raise Closed(1009, f"a message of {size + len(message)} bytes")
                data = self._read(size)
                kind = head & 15
                if kind == _PING:
                    self._send_frame(_PONG, data)
                elif kind == _CLOSE:
                    self._answer_close(data)
                elif kind != _PONG:
                    message += data
                    if head & 0x80:
                        return message
        except (OSError, ValueError) as error:
            self._end()
            raise Closed(1006, str(error)) from error
        except Closed:
            self._end()
            raise

    def close(self, code: int = 1000) -> None:
        """Begins the closing handshake; `receive` raises Closed when the server has answered."""
        try:
            self._send_frame(_CLOSE, struct.pack(">H", code))
        except Closed:
            pass
        self._closing = True

    def _answer_close(self, data: bytes) -> None:
        code = struct.unpack(">H", data[:2])[0] if len(data) >= 2 else 1005
        if not self._closing:
            self.close(code if code != 1005 else 1000)
        raise Closed(code, data[2:].decode("utf-8", "replace"))

    def _read(self, size: int) -> bytes:
        data = self._in.read(size)
        if len(data) != size:
            raise Closed(1006, "the connection was lost")
        return data

    def _send_frame(self, kind: int, data: bytes) -> None:
        size = len(data)
        length = struct.pack("B", 0x80 | size) if size < 126 else struct.pack(">BH", 0xFE, size)
        mask = os.urandom(4)
        masked = bytes(byte ^ mask[i & 3] for i, byte in enumerate(data))
        try:
            with self._sending:
                self._line.sendall(struct.pack("B", 0x80 | kind) + length + mask + masked)
        except OSError as error:
            raise Closed(1006, str(error)) from error

    def _end(self) -> None:
        self._line.close()
