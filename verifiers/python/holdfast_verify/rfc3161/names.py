"""Names for people. They are compared by their bytes, never by this text."""

from ..outcome import Fails
from . import der
from .der import read_der
from .values import oid

_SHORT = {"2.5.4.3": "CN", "2.5.4.6": "C", "2.5.4.7": "L", "2.5.4.8": "ST", "2.5.4.10": "O", "2.5.4.11": "OU"}
_BMP_STRING = 0x1E


def name_text(name: bytes) -> str:
    """A distinguished name such as CN=Example TSA, without control characters."""
    parts = []
    try:
        for group in read_der(name).children:
            for pair in group.children:
                if len(pair.children) != 2 or pair.children[0].tag != der.OID:
                    continue
                kind, value = oid(pair.children[0]), pair.children[1]
                encoding = "utf-16-be" if value.tag == _BMP_STRING else "utf-8"
                text = value.content.decode(encoding, "replace")
                parts.append(f"{_SHORT.get(kind, kind)}={''.join(c if c.isprintable() else '?' for c in text)}")
    except Fails:
        pass
    return ", ".join(parts) or "(no name)"
