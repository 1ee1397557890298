"""The form of `anchors`: what each kind of clock consists of (section "Clocks"). Nothing is judged here."""

from typing import Any, Dict, List, NamedTuple, Optional, Tuple, Union

from .fields import TYPE_NAME, address_bytes, array, base64_bytes, hash_bytes, hex_bytes, integer, members, text
from .outcome import require

MOST_ANCHORS = 16
_MOST_UINT32 = 2**32 - 1
_MOST_TOKEN, _MOST_CERTIFICATE, _MOST_LIST = 65_536, 16_384, 1_048_576
_MOST_OTS_CHARACTERS = 87_384


class Inclusion(NamedTuple):
    """A block's header, and the path to one of its receipts."""

    header: bytes
    index: int
    nodes: List[bytes]


class EvmAnchor(NamedTuple):
    """An entry of an AnchorRegistry on an EVM chain. `block_time` is in seconds."""

    chain_id: int
    contract: bytes
    submitter: bytes
    transaction_hash: bytes
    block_number: int
    block_hash: bytes
    block_time: int
    inclusion: Optional[Inclusion]


class TimestampAnchor(NamedTuple):
    """A token of a timestamp authority (RFC 3161)."""

    token: bytes
    certificates: List[bytes]
    crls: List[bytes]


class OpenTimestampsAnchor(NamedTuple):
    """A detached .ots file, and headers of Bitcoin blocks by their height."""

    proof: bytes
    headers: List[Tuple[int, bytes]]


class OtherAnchor(NamedTuple):
    """An anchor of a type that this version of the format does not describe. It is ignored."""

    type: str


Anchor = Union[EvmAnchor, TimestampAnchor, OpenTimestampsAnchor, OtherAnchor]


def _inclusion(value: Any, where: str) -> Optional[Inclusion]:
    if value is None:
        return None
    fields = members(value, ("header", "index", "nodes"), where)
    header = hex_bytes(fields["header"], f"{where}.header")
    index = integer(fields["index"], f"{where}.index", _MOST_UINT32)
    nodes = [hex_bytes(node, f"{where}.nodes") for node in array(fields["nodes"], 1, 16, f"{where}.nodes")]
    return Inclusion(header, index, nodes)


def _evm(value: Dict[str, Any], where: str) -> EvmAnchor:
    names = ("chainId", "contract", "submitter", "transactionHash", "blockNumber", "blockHash", "blockTime", "inclusion")
    fields = members(value, ("type", *names), where)
    return EvmAnchor(
        chain_id=integer(fields["chainId"], f"{where}.chainId"),
        contract=address_bytes(fields["contract"], f"{where}.contract"),
        submitter=address_bytes(fields["submitter"], f"{where}.submitter"),
        transaction_hash=hash_bytes(fields["transactionHash"], f"{where}.transactionHash"),
        block_number=integer(fields["blockNumber"], f"{where}.blockNumber"),
        block_hash=hash_bytes(fields["blockHash"], f"{where}.blockHash"),
        block_time=integer(fields["blockTime"], f"{where}.blockTime"),
        inclusion=_inclusion(fields["inclusion"], f"{where}.inclusion"),
    )


def _der(value: Any, where: str, most: int) -> bytes:
    """So many bytes in base64."""
    data = base64_bytes(value, where, -(-most // 3) * 4)
    require(len(data) <= most, f"{where} has more than {most} bytes.")
    return data


def _timestamp(value: Dict[str, Any], where: str) -> TimestampAnchor:
    fields = members(value, ("type", "token", "certificates", "crls"), where)
    certificates = array(fields["certificates"], 0, 16, f"{where}.certificates")
    crls = array(fields["crls"], 0, 4, f"{where}.crls")
    return TimestampAnchor(
        token=_der(fields["token"], f"{where}.token", _MOST_TOKEN),
        certificates=[_der(each, f"{where}.certificates", _MOST_CERTIFICATE) for each in certificates],
        crls=[_der(each, f"{where}.crls", _MOST_LIST) for each in crls],
    )


def _opentimestamps(value: Dict[str, Any], where: str) -> OpenTimestampsAnchor:
    fields = members(value, ("type", "proof", "headers"), where)
    headers: List[Tuple[int, bytes]] = []
    for entry in array(fields["headers"], 0, 16, f"{where}.headers"):
        parts = members(entry, ("height", "header"), f"{where}.headers")
        height = integer(parts["height"], f"{where}.headers.height", _MOST_UINT32)
        require(all(height != other for other, _ in headers), f"{where}.headers has the height {height} twice.")
        headers.append((height, hex_bytes(parts["header"], f"{where}.headers.header", 80)))
    return OpenTimestampsAnchor(base64_bytes(fields["proof"], f"{where}.proof", _MOST_OTS_CHARACTERS), headers)


_READERS = {"evm": _evm, "rfc3161": _timestamp, "opentimestamps": _opentimestamps}


def read_anchors(value: Any, where: str) -> List[Anchor]:
    """The anchors of a document or a renewal, 1 to 16."""
    anchors: List[Anchor] = []
    for place, entry in enumerate(array(value, 1, MOST_ANCHORS, where), 1):
        here = f"{where} {place}"
        require(isinstance(entry, dict) and "type" in entry, f"{here} has no type.")
        kind = text(entry["type"], TYPE_NAME, f"{here}.type")
        anchors.append(_READERS[kind](entry, here) if kind in _READERS else OtherAnchor(kind))
    return anchors
