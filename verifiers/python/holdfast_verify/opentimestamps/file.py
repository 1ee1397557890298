"""A detached .ots file, read as a whole (section "opentimestamps"). Lengths are checked first; hashing is left for later."""

import re
from typing import List, NamedTuple, Optional, Set, Tuple

from ..outcome import require
from .operations import APPEND, HASHES, HEXLIFY, PREPEND, REVERSE, apply, result_length

MAGIC = bytes.fromhex("004f70656e54696d657374616d7073000050726f6f6600bf89e2e884e89294")
PENDING, BITCOIN, LITECOIN = (bytes.fromhex(tag) for tag in ("83dfe30d2ef90c8e", "0588960d73d71901", "06869a0d73d71b45"))
_MOST_FILE = 65_536
_MOST_NUMBER = 2**32 - 1
_MOST_NUMBER_BYTES = 5
_MOST_MESSAGE = 4096
_MOST_RESULTS = 262_144
_MOST_OPERATIONS = 255
_MOST_PAYLOAD = 8192
_MOST_ADDRESS = 1000
_ADDRESS = re.compile(rb"[A-Za-z0-9\-._/:]*")
_FORK, _ATTESTATION = 0xFF, 0x00


class Message:
    """A message by how it came about: its bytes are computed when they are needed."""

    __slots__ = ("before", "tag", "argument", "length", "operations", "known")

    def __init__(self, before: Optional["Message"], tag: int, argument: bytes, length: int, operations: int) -> None:
        self.before, self.tag, self.argument, self.length, self.operations = before, tag, argument, length, operations
        self.known: Optional[bytes] = None

    def value(self) -> bytes:
        """The bytes. At most 255 operations lead to them."""
        chain: List[Message] = []
        at: Message = self
        while at.known is None and at.before is not None:
            chain.append(at)
            at = at.before
        value = at.known if at.known is not None else at.argument
        for message in reversed(chain):
            value = message.known = apply(message.tag, message.argument, value)
        return value


class OtsFile(NamedTuple):
    """What a file says: which digest it starts from, and the messages of its Bitcoin attestations with their heights."""

    hash_tag: int
    digest: bytes
    bitcoin: List[Tuple[int, Message]]


class _Bytes:
    """Bytes that are read from the front."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.at = 0

    def take(self, count: int) -> bytes:
        require(self.at + count <= len(self.data), "The file is cut off.")
        self.at += count
        return self.data[self.at - count : self.at]

    def number(self) -> int:
        """Unsigned LEB128 in its one spelling."""
        value = 0
        for place in range(_MOST_NUMBER_BYTES):
            byte = self.take(1)[0]
            value |= (byte & 0x7F) << (7 * place)
            if byte < 0x80:
                require(byte != 0 or place == 0, "A number is padded with zeros.")
                require(value <= _MOST_NUMBER, "A number is too large.")
                return value
        require(False, "A number has too many bytes.")
        return value

    def sized(self, least: int, most: int, what: str) -> bytes:
        size = self.number()
        require(size >= least, f"{what} is too short.")
        require(size <= most, f"{what} is too long.")
        return self.take(size)

    def end(self, what: str) -> None:
        require(self.at == len(self.data), f"Something follows {what}.")


class _Reader:
    def __init__(self, data: bytes) -> None:
        self.bytes = _Bytes(data)
        self.bitcoin: List[Tuple[int, Message]] = []
        self.results = 0

    def attestation(self, message: Message) -> bytes:
        """An attestation of the message. Returns its bytes."""
        start = self.bytes.at
        tag = self.bytes.take(8)
        payload = _Bytes(self.bytes.sized(0, _MOST_PAYLOAD, "The payload of an attestation"))
        if tag == PENDING:
            address = payload.sized(0, _MOST_ADDRESS, "The address of a calendar")
            require(_ADDRESS.fullmatch(address) is not None, "The address of a calendar has a character that is not allowed.")
            payload.end("the address of a calendar")
        elif tag in (BITCOIN, LITECOIN):
            height = payload.number()
            payload.end("the height of a block")
            if tag == BITCOIN:
                self.bitcoin.append((height, message))
        return self.bytes.data[start : self.bytes.at]

    def operation(self, tag: int, message: Message) -> Message:
        """The result of an operation on the message."""
        argument = b""
        if tag in (APPEND, PREPEND):
            argument = self.bytes.sized(1, _MOST_MESSAGE, "The argument of an operation")
        else:
            require(tag in HASHES or tag in (REVERSE, HEXLIFY), f"The operation {tag:02x} is unknown.")
        length = result_length(tag, argument, message.length)
        require(length <= _MOST_MESSAGE, f"A result is longer than {_MOST_MESSAGE} bytes.")
        self.results += length
        require(self.results <= _MOST_RESULTS, f"All results together have more than {_MOST_RESULTS} bytes.")
        require(message.operations < _MOST_OPERATIONS, f"More than {_MOST_OPERATIONS} operations follow each other.")
        return Message(message, tag, argument, length, message.operations + 1)

    def tree(self, digest: Message) -> None:
        """A tree, without recursion: `open_trees` are those that have entries to come."""
        open_trees: List[Tuple[Message, Set[bytes]]] = [(digest, set())]
        while open_trees:
            message, entries = open_trees[-1]
            tag = self.bytes.take(1)[0]
            is_last = tag != _FORK
            if is_last:
                open_trees.pop()
            else:
                tag = self.bytes.take(1)[0]
            result = None
            if tag == _ATTESTATION:
                entry = b"\x00" + self.attestation(message)
            else:
                result = self.operation(tag, message)
                entry = bytes([tag]) + result.argument
            require(entry not in entries, "A tree has the same entry twice.")
            entries.add(entry)
            if result is not None:
                open_trees.append((result, set()))


def read_file(data: bytes) -> OtsFile:
    """A file of the right form."""
    require(len(data) <= _MOST_FILE, f"The file has more than {_MOST_FILE} bytes.")
    reader = _Reader(data)
    require(reader.bytes.take(len(MAGIC)) == MAGIC, "The file does not begin like one of OpenTimestamps.")
    require(reader.bytes.number() == 1, "The file is not of version 1.")
    hash_tag = reader.bytes.take(1)[0]
    require(hash_tag in HASHES, "The file names an unknown hash function.")
    digest = reader.bytes.take(HASHES[hash_tag].size)
    reader.tree(Message(None, 0, digest, len(digest), 0))
    reader.bytes.end("the tree")
    return OtsFile(hash_tag, digest, reader.bitcoin)
