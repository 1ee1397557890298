"""The receipt of a transaction, and the log of the registry in it (section "evm", inclusion and step `chain`)."""

from typing import List, NamedTuple

from ..outcome import require
from .rlp import Item, as_bytes, as_integer, as_list, as_sized, decode

ANCHORED_TOPIC = bytes.fromhex("89a6d921e8e91c18be78a016997c04625db0d36e402bd063eb22521fe39e03c0")
_DEPOSIT = 0x7E


class Log(NamedTuple):
    """An event of a contract."""

    address: bytes
    topics: List[bytes]
    data: bytes


class Receipt(NamedTuple):
    """What a transaction did."""

    succeeded: bool
    logs: List[Log]


def _log(item: Item) -> Log:
    fields = as_list(item, "A log")
    require(len(fields) == 3, "A log has not three fields.")
    topics = as_list(fields[1], "The topics of a log")
    require(len(topics) <= 4, "A log has more than four topics.")
    return Log(
        as_sized(fields[0], 20, "The address of a log"),
        [as_sized(topic, 32, "A topic") for topic in topics],
        as_bytes(fields[2], "The data of a log"),
    )


def read_receipt(data: bytes) -> Receipt:
    """A receipt as it stands in the trie: a list, or the byte of its type and a list."""
    typed = b"" < data[:1] <= b"\x7f"
    fields = as_list(decode(data[1:] if typed else data), "The receipt")
    deposit = typed and data[0] == _DEPOSIT and len(fields) == 6
    require(len(fields) == 4 or deposit, "The receipt has another number of fields.")
    status = as_bytes(fields[0], "The status")
    require(status in (b"", b"\x01"), "The status is neither 0 nor 1.")
    as_integer(fields[1], "The gas")
    as_sized(fields[2], 256, "The bloom")
    logs = [_log(item) for item in as_list(fields[3], "The logs")]
    for extra in fields[4:]:
        as_integer(extra, "A further field of a deposit's receipt")
    return Receipt(status == b"\x01", logs)


def is_anchored_log(log: Log, contract: bytes, submitter: bytes, root: bytes, size: int) -> bool:
    """Whether this is the registry's event about the root."""
    return (
        log.address == contract
        and log.topics == [ANCHORED_TOPIC, submitter.rjust(32, b"\0"), root]
        and log.data == size.to_bytes(32, "big")
    )
