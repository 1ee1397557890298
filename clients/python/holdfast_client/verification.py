"""Verifies proofs and histories on this machine, with the package holdfast-verify."""

from __future__ import annotations

import io
import json
from typing import Any, BinaryIO, Dict, Optional, Union

from holdfast_verify.context import USUAL_REGISTRY, Context
from holdfast_verify.evm.http import HttpTransport
from holdfast_verify.evm.node import Node
from holdfast_verify.history import HistoryResult
from holdfast_verify.history import verify_history as check_history
from holdfast_verify.result import Result
from holdfast_verify.trust import Trust, read_trust, shipped_trust
from holdfast_verify.verify import verify as check_proof

Document = Union[bytes, str, Dict[str, Any]]


def verify_proof(
    proof: Document,
    *,
    content: Union[bytes, BinaryIO, Dict[str, Any], None] = None,
    rpc_url: Optional[str] = None,
    trust: Optional[Document] = None,
    trust_node: bool = False,
    at: Optional[int] = None,
    registry: Optional[str] = None,
    salt: Optional[bytes] = None,
) -> Result:
    """The verdict is `pass`, `fail` or `incomplete`; `summary` says it in words, and `steps` how it came about.

    `content` is the file, or the data of the record. `rpc_url` is a node of the chain, or the path /verify/rpc of a
    service. `trust` is a trust file; without it the roots that ship count. `trust_node` trusts the clock of whatever
    chain the node serves: for development, because the operator of an embedded chain can set its clock. `at` is the
    time of judgement in milliseconds.
    """
    context = context_of(rpc_url, trust, trust_node, at, registry)
    return check_proof(text_of(proof), context, stream_of(content), salt)


def verify_history(
    history: Document,
    *,
    rpc_url: Optional[str] = None,
    trust: Optional[Document] = None,
    trust_node: bool = False,
    at: Optional[int] = None,
    registry: Optional[str] = None,
) -> HistoryResult:
    """All proofs of one thing, such as the history of a file with `format="proof"`."""
    return check_history(text_of(history), context_of(rpc_url, trust, trust_node, at, registry))


def context_of(
    rpc_url: Optional[str],
    trust: Optional[Document],
    trust_node: bool,
    at: Optional[int],
    registry: Optional[str],
) -> Context:
    node = None if rpc_url is None else Node(HttpTransport(rpc_url))
    if trust_node:
        if node is None or trust is not None:
            raise ValueError("trust_node needs rpc_url, and takes no trust beside it.")
        whom = trust_in(node)
    else:
        whom = shipped_trust() if trust is None else read_trust(text_of(trust))
    address = USUAL_REGISTRY if registry is None else bytes.fromhex(registry[2:])
    return Context(trust=whom, at=at, node=node, registry=address)


def trust_in(node: Node) -> Trust:
    genesis = node.block(0)
    if genesis is None:
        raise ValueError("The node does not have the first block of its chain.")
    chain = {"chainId": node.chain_id(), "genesisHash": "0x" + genesis.hash.hex(), "finality": 0}
    return read_trust(text_of({"format": "holdfast/trust@1", "chains": [chain]}))


def text_of(document: Document) -> bytes:
    if isinstance(document, bytes):
        return document
    return (document if isinstance(document, str) else json.dumps(document)).encode()


def stream_of(content: Union[bytes, BinaryIO, Dict[str, Any], None]) -> Optional[BinaryIO]:
    if isinstance(content, dict):
        return io.BytesIO(text_of(content))
    return io.BytesIO(content) if isinstance(content, bytes) else content
