"""What a node of a chain answers. An answer that is missing or makes no sense skips a step: it contradicts nothing."""

import re
from typing import Any, Dict, List, NamedTuple, Optional

from ..outcome import Skips
from .receipt import Log

_QUANTITY = re.compile(r"0x[0-9a-fA-F]{1,14}")
_MOST_QUANTITY = 2**53 - 1
_DATA = re.compile(r"0x(?:[0-9a-fA-F]{2})*")


class Transport:
    """Whoever carries a call to a node. Raises `Skips` if there is no answer."""

    def call(self, method: str, parameters: List[Any]) -> Any:
        """The result of a call."""
        raise NotImplementedError


class NodeBlock(NamedTuple):
    """A block as the node tells it. `transactions` are their hashes, not yet read."""

    number: int
    hash: bytes
    time: int
    transactions: List[Any]

    def transaction_hashes(self) -> List[bytes]:
        """The hashes of its transactions."""
        return [_hash(each, "a transaction") for each in self.transactions]


class NodeReceipt(NamedTuple):
    """A receipt as the node tells it."""

    succeeded: bool
    block_number: int
    block_hash: bytes
    logs: List[Log]


def _senseless(what: str) -> Skips:
    return Skips(f"The node's answer makes no sense: {what}.")


def _quantity(value: Any, what: str) -> int:
    if not isinstance(value, str) or not _QUANTITY.fullmatch(value):
        raise _senseless(what)
    number = int(value, 16)
    if number > _MOST_QUANTITY:
        raise _senseless(what)
    return number


def _data(value: Any, what: str) -> bytes:
    if not isinstance(value, str) or not _DATA.fullmatch(value):
        raise _senseless(what)
    return bytes.fromhex(value[2:])


def _hash(value: Any, what: str) -> bytes:
    data = _data(value, what)
    if len(data) != 32:
        raise _senseless(what)
    return data


def _list(value: Any, what: str) -> List[Any]:
    if not isinstance(value, list):
        raise _senseless(what)
    return value


def _object(value: Any, what: str) -> Dict[str, Any]:
    if not isinstance(value, dict):
        raise _senseless(what)
    return value


def _log(value: Any) -> Log:
    log = _object(value, "a log")
    topics = [_hash(topic, "a topic") for topic in _list(log.get("topics"), "topics")]
    return Log(_data(log.get("address"), "the address of a log"), topics, _data(log.get("data"), "the data of a log"))


class Node:
    """The calls that a verification needs."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def chain_id(self) -> int:
        """The id of the chain: the node's own word, never the document's."""
        return _quantity(self._transport.call("eth_chainId", []), "the id of the chain")

    def client_version(self) -> str:
        """What the node calls itself."""
        version = self._transport.call("web3_clientVersion", [])
        if not isinstance(version, str) or not version:
            raise _senseless("the name of the client")
        return version

    def _block(self, which: str) -> Optional[NodeBlock]:
        answer = self._transport.call("eth_getBlockByNumber", [which, False])
        if answer is None:
            return None
        block = _object(answer, "a block")
        transactions = _list(block.get("transactions"), "transactions")
        number, time = _quantity(block.get("number"), "a block's number"), _quantity(block.get("timestamp"), "a time")
        return NodeBlock(number, _hash(block.get("hash"), "a block's hash"), time, transactions)

    def block(self, number: int) -> Optional[NodeBlock]:
        """A block by its number; None if the node does not have it."""
        return self._block(hex(number))

    def head(self) -> Optional[NodeBlock]:
        """The newest block."""
        return self._block("latest")

    def finalized(self) -> Optional[NodeBlock]:
        """The newest block that is final; None if the node does not say."""
        return self._block("finalized")

    def receipt(self, transaction_hash: bytes) -> Optional[NodeReceipt]:
        """The receipt of a transaction; None if the node does not have it."""
        answer = self._transport.call("eth_getTransactionReceipt", ["0x" + transaction_hash.hex()])
        if answer is None:
            return None
        receipt = _object(answer, "a receipt")
        if _hash(receipt.get("transactionHash"), "a transaction") != transaction_hash:
            raise _senseless("a receipt of another transaction")
        return NodeReceipt(
            _quantity(receipt.get("status"), "a status") == 1,
            _quantity(receipt.get("blockNumber"), "a block's number"),
            _hash(receipt.get("blockHash"), "a block's hash"),
            [_log(log) for log in _list(receipt.get("logs"), "logs")],
        )

    def code(self, address: bytes) -> bytes:
        """The code of a contract at the head; empty if there is none."""
        head = self.head()
        if head is None:
            raise _senseless("no newest block")
        at = {"blockHash": "0x" + head.hash.hex()}
        return _data(self._transport.call("eth_getCode", ["0x" + address.hex(), at]), "the code of a contract")
