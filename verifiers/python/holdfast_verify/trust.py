"""Whom to trust: the file `holdfast/trust@1`, or what ships with this package (section "Trust")."""

import json
import re
from pathlib import Path
from typing import Any, Dict, FrozenSet, List, NamedTuple, Optional, Tuple, Union

from . import fields as form
from .clock import parse_time
from .outcome import require
from .rfc3161.certificate import read_certificate
from .rfc3161.crl import RevocationList, read_list
from .rfc3161.der import read_der
from .rfc3161.extensions import KEY_CERT_SIGN
from .rfc3161.keys import read_key
from .rfc3161.root import Root, root_from
from .strict_json import parse

TRUST_FORMAT = "holdfast/trust@1"
FINALIZED = "finalized"
_SHIPPED = Path(__file__).with_name("shipped_trust.json")
_PEM = re.compile(r"-----BEGIN CERTIFICATE-----([^-]*)-----END CERTIFICATE-----")
_PEM_LIST = re.compile(r"-----BEGIN X509 CRL-----([^-]*)-----END X509 CRL-----")
_MOST_FILE, _MOST_ROOT_CHARACTERS, _MOST_LIST_CHARACTERS = 1 << 27, 20_000, 1_500_000
_MOST_NAMED, _MOST_ROOTS, _MOST_POLICIES, _MOST_LISTS, _MOST_BITCOIN = 10_000, 256, 256, 64, 1_000_000
_POLICY = re.compile(r"[0-2](?:\.(?:0|[1-9][0-9]{0,18})){1,30}")
_MOST_CONFIRMATIONS = 1_000_000


class Chain(NamedTuple):
    """A chain that is known or named. `finality` is `finalized`, or a number of blocks below the head."""

    chain_id: int
    genesis_hash: bytes
    finality: Union[str, int]
    name: str
    built_in: bool
    test_network: bool


class Blocks:
    """Blocks of chains whose hashes need not be asked for."""

    def __init__(self, blocks: List[Tuple[int, int, bytes]]) -> None:
        """Each by the id of its chain, its number and its hash."""
        self._hashes: Dict[Tuple[int, int], List[bytes]] = {}
        for chain_id, number, block_hash in blocks:
            self._hashes.setdefault((chain_id, number), []).append(block_hash)
        self._all = {(chain_id, block_hash) for chain_id, _, block_hash in blocks}

    def hashes(self, chain_id: int, number: int) -> List[bytes]:
        """All hashes that the file has for the block of that number."""
        return self._hashes.get((chain_id, number), [])

    def has(self, chain_id: int, block_hash: bytes) -> bool:
        """Whether a block of that chain has the hash."""
        return (chain_id, block_hash) in self._all


class Trust(NamedTuple):
    """The decision of whoever verifies. `given` is whether there was a file.

    `crls` count beside those of a proof; `revoked` has the fingerprints of certificates that do not count.
    `bitcoin` has, by height, the hashes of blocks as explorers print them.
    """

    chains: List[Chain]
    blocks: Blocks
    tsa_roots: List[Root]
    tsa_policies: List[str]
    crls: List[RevocationList]
    revoked: FrozenSet[bytes]
    bitcoin: Dict[int, List[bytes]]
    given: bool

    def chains_of(self, chain_id: int) -> List[Chain]:
        """The chains of that id that the file names; if it names none, the built-in one, or nothing."""
        known = [chain for chain in self.chains if chain.chain_id == chain_id]
        return [chain for chain in known if not chain.built_in] or known

    def chain(self, chain_id: int) -> Optional[Chain]:
        """The first of them; None if nobody knows the chain."""
        return next(iter(self.chains_of(chain_id)), None)


def _known_chains(shipped: Any) -> List[Chain]:
    return [
        Chain(
            chain["chainId"],
            bytes.fromhex(chain["genesisHash"][2:]),
            chain["finality"],
            chain["name"],
            True,
            chain["testNetwork"],
        )
        for chain in shipped["chains"]
    ]


def _shipped_root(root: Any) -> Root:
    subject, key, fingerprint = (bytes.fromhex(root[name][2:]) for name in ("subject", "publicKey", "fingerprint"))
    not_before, not_after = (parse_time(root[name]) for name in ("notBefore", "notAfter"))
    assert not_before is not None and not_after is not None
    return Root(subject, read_der(key), not_before, not_after, root["name"], fingerprint)


def shipped_trust() -> Trust:
    """What counts if no file is given: the known chains, and the shipped roots of timestamp authorities."""
    shipped = json.loads(_SHIPPED.read_text("utf-8"))
    return Trust(_known_chains(shipped), Blocks([]), [_shipped_root(root) for root in shipped["timestampRoots"]], [], [], frozenset(), {}, False)


def _chain(value: Any) -> Chain:
    parts = form.members(value, ("chainId", "genesisHash", "finality"), "chains")
    chain_id = form.integer(parts["chainId"], "chains.chainId")
    finality = parts["finality"]
    if finality != FINALIZED:
        finality = form.integer(finality, "chains.finality", _MOST_CONFIRMATIONS)
    genesis_hash = form.hash_bytes(parts["genesisHash"], "chains.genesisHash")
    return Chain(chain_id, genesis_hash, finality, f"chain {chain_id}", False, False)


def _block(value: Any) -> Tuple[int, int, bytes]:
    parts = form.members(value, ("chainId", "number", "hash"), "blocks")
    chain_id, number = form.integer(parts["chainId"], "blocks.chainId"), form.integer(parts["number"], "blocks.number")
    return chain_id, number, form.hash_bytes(parts["hash"], "blocks.hash")


def _root(value: Any) -> Root:
    """One certificate in PEM, with or without text around it, that may be an authority's."""
    require(isinstance(value, str) and len(value) <= _MOST_ROOT_CHARACTERS, "An element of tsaRoots is no text, or too long.")
    found = _PEM.findall(value)
    require(len(found) == 1, "An element of tsaRoots is not one certificate in PEM.")
    body = re.sub(r"[ \t\r\n]", "", found[0])
    certificate = read_certificate(form.base64_bytes(body, "tsaRoots", _MOST_ROOT_CHARACTERS))
    constraints, usage = certificate.basic_constraints, certificate.key_usage
    is_authority = not certificate.extensions or (constraints is not None and constraints.is_authority)
    require(is_authority, "A certificate in tsaRoots is not an authority's.")
    require(usage is None or KEY_CERT_SIGN in usage, "A certificate in tsaRoots may not sign certificates.")
    read_key(certificate.public_key)
    return root_from(certificate)


def _list(value: Any) -> RevocationList:
    """One list of revoked certificates in PEM, with or without text around it."""
    require(isinstance(value, str) and len(value) <= _MOST_LIST_CHARACTERS, "An element of crls is no text, or too long.")
    lists = _PEM_LIST.findall(value)
    require(len(lists) == 1, "An element of crls is not one list in PEM.")
    encoded = form.base64_bytes(re.sub(r"[ \t\r\n]", "", lists[0]), "crls", _MOST_LIST_CHARACTERS)
    return read_list(encoded)


def _bitcoin(values: List[Any]) -> Dict[int, List[bytes]]:
    hashes: Dict[int, List[bytes]] = {}
    for value in values:
        parts = form.members(value, ("height", "hash"), "bitcoin")
        height = form.integer(parts["height"], "bitcoin.height", 2**32 - 1)
        hashes.setdefault(height, []).append(form.hash_bytes(parts["hash"], "bitcoin.hash"))
    return hashes


def read_trust(data: bytes) -> Trust:
    """The trust of a file. It replaces the shipped one as a whole; only the known chains stay. Raises `Fails`."""
    require(len(data) <= _MOST_FILE, "The trust file is too large.")
    value = parse(data)
    require(isinstance(value, dict) and value.get("format") == TRUST_FORMAT, f"The trust file is no {TRUST_FORMAT}.")
    names = ("chains", "blocks", "tsaRoots", "tsaPolicies", "crls", "revoked", "bitcoin")
    parts = form.members({**{name: [] for name in names}, **value}, ("format", *names), "The trust file")
    limits = (_MOST_NAMED, _MOST_NAMED, _MOST_ROOTS, _MOST_POLICIES, _MOST_LISTS, _MOST_NAMED, _MOST_BITCOIN)
    for name, most in zip(names, limits):
        form.array(parts[name], 0, most, name)
    return Trust(
        _known_chains(json.loads(_SHIPPED.read_text("utf-8"))) + [_chain(each) for each in parts["chains"]],
        Blocks([_block(each) for each in parts["blocks"]]),
        [_root(each) for each in parts["tsaRoots"]],
        [form.text(each, _POLICY, "tsaPolicies") for each in parts["tsaPolicies"]],
        [_list(each) for each in parts["crls"]],
        frozenset(form.hash_bytes(each, "revoked") for each in parts["revoked"]),
        _bitcoin(parts["bitcoin"]),
        True,
    )
