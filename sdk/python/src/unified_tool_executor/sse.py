"""Server-sent events, as the gateway writes them: read from a body in whatever pieces it comes."""

from __future__ import annotations

import codecs
from dataclasses import dataclass
from typing import List, Optional

_MAX_EVENT_CHARS = 64 * 1024 * 1024


@dataclass(frozen=True)
class ServerEvent:
    event: str
    id: Optional[str]
    data: str


class EventParser:
    def __init__(self) -> None:
        self._decode = codecs.getincrementaldecoder("utf-8")("replace").decode
        self._rest = ""
        self._event = ""
        self._id: Optional[str] = None
        self._data: List[str] = []
        self.retry_ms: Optional[int] = None
        """What the stream said of when to come again."""

    def push(self, piece: bytes) -> List[ServerEvent]:
        """The events that are whole by now."""
        # Not splitlines: other characters that end a line elsewhere are part of the data.
        lines = (self._rest + self._decode(piece)).split("\n")
        self._rest = lines.pop()
        if len(self._rest) > _MAX_EVENT_CHARS:
            raise ValueError("an event of the stream is too long")
        found = [self._line(line[:-1] if line.endswith("\r") else line) for line in lines]
        return [event for event in found if event is not None]

    def _line(self, line: str) -> Optional[ServerEvent]:
        if line == "":
            return self._end()
        field, _, value = line.partition(":")
        value = value[1:] if value.startswith(" ") else value
        if field == "event":
            self._event = value
        elif field == "data":
            self._data.append(value)
        elif field == "id" and "\0" not in value:
            self._id = value
        elif field == "retry" and value.isascii() and value.isdigit() and len(value) <= 6:
            self.retry_ms = int(value)
        return None

    def _end(self) -> Optional[ServerEvent]:
        event = ServerEvent(self._event or "message", self._id, "\n".join(self._data))
        is_empty = not self._data
        self._event, self._data = "", []
        return None if is_empty else event
