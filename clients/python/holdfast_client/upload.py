"""Sends a file in a form, from memory or as it is read, and tells how far it is."""

from __future__ import annotations

import os
import secrets
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, Callable, Dict, Iterable, Iterator, Optional, Union

CHUNK = 64 * 1024

Content = Union[bytes, Path, BinaryIO, Iterable[bytes]]


@dataclass(frozen=True)
class NamedFile:
    """Content with its name and media type in the form."""

    content: Union[Content, Callable[[], Content]]
    name: Optional[str] = None
    media_type: str = "application/octet-stream"


# A path, bytes or a function that opens the content can be sent again after a failure; a stream can be sent only once.
FileToSend = Union[Content, Callable[[], Content], NamedFile]

Progress = Callable[[int, Optional[int]], None]


class Upload:
    def __init__(self, fields: Dict[str, Any], file: FileToSend, on_progress: Optional[Progress]) -> None:
        named = file if isinstance(file, NamedFile) else NamedFile(file)
        content = named.content
        name = named.name or (content.name if isinstance(content, Path) else "file")
        boundary = f"holdfast-{secrets.token_hex(16)}"
        parts = [
            f'--{boundary}\r\ncontent-disposition: form-data; name="{field}"\r\n\r\n{form_text(value)}\r\n'
            for field, value in fields.items()
        ]
        parts.append(
            f'--{boundary}\r\ncontent-disposition: form-data; name="file"; filename="{quoted(name)}"\r\n'
            f"content-type: {one_line(named.media_type)}\r\n\r\n"
        )
        self._head = "".join(parts).encode()
        self._tail = f"\r\n--{boundary}--\r\n".encode()
        self._content = content
        self._on_progress = on_progress
        self.content_type = f"multipart/form-data; boundary={boundary}"
        self.is_repeatable = callable(content) or isinstance(content, (bytes, Path))

    def open(self) -> "OpenedUpload":
        content = self._content() if callable(self._content) else self._content
        return OpenedUpload(self._head, content, self._tail, self._on_progress)


class OpenedUpload:
    """The body of one attempt."""

    def __init__(self, head: bytes, content: Content, tail: bytes, on_progress: Optional[Progress]) -> None:
        self._head = head
        self._content = open(content, "rb") if isinstance(content, Path) else content
        self._tail = tail
        self._on_progress = on_progress
        self._owns_file = isinstance(content, Path)
        size = size_of(self._content)
        self.size = size
        # Of the whole body; None if nobody knows.
        self.length = None if size is None else len(head) + size + len(tail)

    def __iter__(self) -> Iterator[bytes]:
        yield self._head
        sent = 0
        for chunk in chunks_of(self._content):
            yield chunk
            sent += len(chunk)
            if self._on_progress:
                self._on_progress(sent, self.size)
        yield self._tail

    def close(self) -> None:
        if self._owns_file:
            self._content.close()  # type: ignore[union-attr]


def size_of(content: Any) -> Optional[int]:
    """What is left of a file from where it stands."""
    if isinstance(content, (bytes, bytearray, memoryview)):
        return len(content)
    try:
        return int(os.fstat(content.fileno()).st_size) - int(content.tell())
    except (AttributeError, OSError, ValueError):
        return None


def chunks_of(content: Any) -> Iterator[bytes]:
    if isinstance(content, (bytes, bytearray, memoryview)):
        for start in range(0, len(content), CHUNK):
            yield bytes(content[start : start + CHUNK])
    elif hasattr(content, "read"):
        while chunk := content.read(CHUNK):
            yield chunk
    else:
        yield from content


def form_text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def quoted(name: str) -> str:
    """As browsers write it into a form."""
    return name.replace("\r", "%0D").replace("\n", "%0A").replace('"', "%22")


def one_line(text: str) -> str:
    return text.replace("\r", "").replace("\n", "")
