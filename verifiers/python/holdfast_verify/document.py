"""The form of a `holdfast/proof@1` (section "The document"), and which step a malformed field fails (section "Verifying")."""

from typing import Any, Callable, Dict, List, NamedTuple, Optional, TypeVar

from . import fields as form
from .anchors_form import Anchor, read_anchors
from .outcome import Fails, require
from .strict_json import parse

PROOF_FORMAT = "holdfast/proof@1"
LEAF_TYPES = [
    "bytes32 domain",
    "bytes32 kind",
    "bytes32 digest",
    "bytes32 subject",
    "uint64 version",
    "bytes32 previousLeaf",
    "address vault",
    "bytes32 claimsHash",
]
MOST_PATH = 65
_MEMBERS = ("format", "kind", "subject", "content", "claims", "leaf", "merkle", "seal", "anchors", "renewals")
_Part = TypeVar("_Part")


class Subject(NamedTuple):
    """What the proof is about."""

    workspace_id: str
    id: str


class Content(NamedTuple):
    """How the content was hashed. `salt` is None if there is none, or if it is not told."""

    digest: bytes
    canonicalization: str
    salt: Optional[bytes]


class Leaf(NamedTuple):
    """`leaf.values`."""

    domain: bytes
    kind: bytes
    digest: bytes
    subject: bytes
    version: int
    previous_leaf: bytes
    vault: bytes
    claims_hash: bytes


class Merkle(NamedTuple):
    """The path to the root of the batch."""

    proof: List[bytes]
    root: bytes
    size: int


class Seal(NamedTuple):
    """What the vault signed, and how long the path in its subtree is."""

    vault: bytes
    subtree_root: bytes
    depth: int
    leaves: int
    sequence: int
    previous_seal: bytes
    signature: bytes


class Covers(NamedTuple):
    """Which item a renewal covers."""

    renewal: Optional[int]
    anchor: Optional[int]


class Renewal(NamedTuple):
    """A later batch that covers evidence of the document."""

    covers: Covers
    path: List[bytes]
    evidence_root: bytes
    log_head: bytes
    proof: List[bytes]
    root: bytes
    size: int
    anchors: List[Anchor]


class Proof(NamedTuple):
    """A document of the right form. `claims` is None once they were erased."""

    kind: str
    subject: Subject
    content: Content
    claims: Optional[Dict[str, Any]]
    leaf: Leaf
    merkle: Merkle
    seal: Seal
    anchors: List[Anchor]
    renewals: List[Renewal]


class MalformedProof(Exception):
    """What is wrong with the form, by the step that fails for it."""

    def __init__(self, faults: Dict[str, str]) -> None:
        super().__init__("; ".join(faults.values()))
        self.faults = faults


def read_subject(value: Any) -> Subject:
    """`subject`, of a proof or of a history."""
    parts = form.members(value, ("workspaceId", "id"), "subject")
    workspace_id = form.text(parts["workspaceId"], form.WORKSPACE_ID, "subject.workspaceId")
    return Subject(workspace_id, form.text(parts["id"], form.SUBJECT_ID, "subject.id"))


def _content(value: Any) -> Content:
    parts = form.members(value, ("algorithm", "digest", "canonicalization", "salt"), "content")
    require(parts["algorithm"] == "sha-256", "content.algorithm is not sha-256.")
    digest = form.hash_bytes(parts["digest"], "content.digest")
    canonicalization = parts["canonicalization"]
    require(canonicalization in ("raw", "jcs", "hmac-sha256"), "content.canonicalization is none of the three.")
    salt = None if parts["salt"] is None else form.hash_bytes(parts["salt"], "content.salt")
    require(canonicalization != "raw" or salt is None, "content.salt is not null, but raw content has no salt.")
    return Content(digest, canonicalization, salt)


def _claims(value: Any) -> Optional[Dict[str, Any]]:
    if value is None:
        return None
    require(isinstance(value, dict), "claims is neither an object nor null.")
    require("salt" in value, "claims has no salt.")
    form.hash_bytes(value["salt"], "claims.salt")
    return dict(value)


def _leaf(value: Any) -> Leaf:
    parts = form.members(value, ("types", "values"), "leaf")
    require(parts["types"] == LEAF_TYPES, "leaf.types is not the list of the specification.")
    values = form.array(parts["values"], 8, 8, "leaf.values")
    domain, kind, digest, subject, previous_leaf, claims_hash = (
        form.hash_bytes(values[place], f"leaf.values {place + 1}") for place in (0, 1, 2, 3, 5, 7)
    )
    version, vault = form.uint64(values[4], "The version"), form.address_bytes(values[6], "The vault in the leaf")
    return Leaf(domain, kind, digest, subject, version, previous_leaf, vault, claims_hash)


def _path(value: Any, where: str) -> List[bytes]:
    return [form.hash_bytes(node, where) for node in form.array(value, 0, MOST_PATH, where)]


def _merkle(value: Any) -> Merkle:
    parts = form.members(value, ("proof", "root", "size"), "merkle")
    proof, root = _path(parts["proof"], "merkle.proof"), form.hash_bytes(parts["root"], "merkle.root")
    return Merkle(proof, root, form.integer(parts["size"], "merkle.size"))


def _depth(value: Any) -> int:
    """`seal.depth` has a reader of its own: it belongs to the step `path`, also if it is missing."""
    if not isinstance(value, dict):
        return 0
    require("depth" in value, "seal has no depth.")
    return form.integer(value["depth"], "seal.depth", 64)


def _seal(value: Any) -> Seal:
    names = ("vault", "subtreeRoot", "leaves", "sequence", "previousSeal", "signature")
    require(isinstance(value, dict), "seal is not an object.")
    parts = form.members({name: found for name, found in value.items() if name != "depth"}, names, "seal")
    return Seal(
        vault=form.address_bytes(parts["vault"], "seal.vault"),
        subtree_root=form.hash_bytes(parts["subtreeRoot"], "seal.subtreeRoot"),
        depth=0,
        leaves=form.integer(parts["leaves"], "seal.leaves", 2**32 - 1),
        sequence=form.uint64(parts["sequence"], "seal.sequence"),
        previous_seal=form.hash_bytes(parts["previousSeal"], "seal.previousSeal"),
        signature=form.hex_bytes(parts["signature"], "seal.signature", 65),
    )


def _place(value: Any, where: str) -> Optional[int]:
    return None if value is None else form.integer(value, where)


def _renewal(value: Any, where: str) -> Renewal:
    parts = form.members(value, ("covers", "path", "head", "proof", "root", "size", "anchors"), where)
    covers = form.members(parts["covers"], ("renewal", "anchor"), f"{where}.covers")
    head = form.members(parts["head"], ("evidenceRoot", "logHead"), f"{where}.head")
    return Renewal(
        covers=Covers(_place(covers["renewal"], f"{where}.covers.renewal"), _place(covers["anchor"], f"{where}.covers.anchor")),
        path=_path(parts["path"], f"{where}.path"),
        evidence_root=form.hash_bytes(head["evidenceRoot"], f"{where}.head.evidenceRoot"),
        log_head=form.hash_bytes(head["logHead"], f"{where}.head.logHead"),
        proof=_path(parts["proof"], f"{where}.proof"),
        root=form.hash_bytes(parts["root"], f"{where}.root"),
        size=form.integer(parts["size"], f"{where}.size"),
        anchors=read_anchors(parts["anchors"], f"{where}.anchors"),
    )


def _renewals(value: Any) -> List[Renewal]:
    return [_renewal(entry, f"renewal {place}") for place, entry in enumerate(form.array(value, 0, 16, "renewals"), 1)]


def _format(value: Any) -> None:
    require(value == PROOF_FORMAT, f"format is not {PROOF_FORMAT}.")


class _Reading:
    """Reads part after part, and remembers for which steps the form was wrong."""

    def __init__(self, value: Dict[str, Any]) -> None:
        self.value = value
        self.faults: Dict[str, str] = {}

    def part(self, name: str, step: str, read: Callable[[Any], _Part]) -> Optional[_Part]:
        try:
            require(name in self.value, f"The document has no {name}.")
            return read(self.value[name])
        except Fails as fault:
            self.faults.setdefault(step, str(fault))
        return None


def proof_from(value: Any) -> Proof:
    """A proof from its parsed JSON. Raises `MalformedProof`."""
    if not isinstance(value, dict):
        raise MalformedProof({"leaf": "The document is not an object."})
    reading = _Reading(value)
    for name in value:
        if name not in _MEMBERS:
            reading.faults["leaf"] = f"The document has a member that the format does not have: {ascii(name)[:60]}."
    reading.part("format", "leaf", _format)
    kind = reading.part("kind", "leaf", lambda found: form.text(found, form.TYPE_NAME, "kind"))
    subject = reading.part("subject", "leaf", read_subject)
    content = reading.part("content", "digest", _content)
    claims = reading.part("claims", "claims", _claims)
    leaf = reading.part("leaf", "leaf", _leaf)
    merkle = reading.part("merkle", "path", _merkle)
    depth = reading.part("seal", "path", _depth) if "seal" in value else None
    seal = reading.part("seal", "seal", _seal)
    anchors = reading.part("anchors", "time", lambda found: read_anchors(found, "anchor"))
    renewals = reading.part("renewals", "time", _renewals)
    if reading.faults:
        raise MalformedProof(reading.faults)
    assert kind and subject and content and leaf and merkle and seal and anchors is not None and renewals is not None
    return Proof(kind, subject, content, claims, leaf, merkle, seal._replace(depth=depth or 0), anchors, renewals)


def read_proof(data: bytes) -> Proof:
    """A proof from its text. Raises `MalformedProof`."""
    try:
        return proof_from(parse(data))
    except Fails as fault:
        raise MalformedProof({"leaf": str(fault)}) from fault
