"""Every vector of test/vectors: verdict, time and every step have to agree.

The variable HOLDFAST_VECTORS may name some of them, with commas between the names; then only these are judged.
"""

import base64
import io
import json
import os
import sys
import unittest
from pathlib import Path
from typing import Any, Dict, List, Optional, Tuple, Union

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

from holdfast_verify.clock import format_time, parse_time  # noqa: E402
from holdfast_verify.context import USUAL_REGISTRY, Context  # noqa: E402
from holdfast_verify.evm.node import Node, Transport  # noqa: E402
from holdfast_verify.history import HistoryResult, verify_history  # noqa: E402
from holdfast_verify.outcome import Fails, Skips  # noqa: E402
from holdfast_verify.result import Result  # noqa: E402
from holdfast_verify.trust import Trust, read_trust, shipped_trust  # noqa: E402
from holdfast_verify.verify import verify  # noqa: E402

VECTORS = HERE.parent.parent.parent / "test" / "vectors"


class Recorded(Transport):
    """A node whose answers were recorded. A call that is not listed gets no answer."""

    def __init__(self, answers: Dict[str, Any]) -> None:
        self.answers = answers

    def call(self, method: str, parameters: List[Any]) -> Any:
        name = f"{method} {json.dumps(parameters, separators=(',', ':'))}"
        if name not in self.answers:
            raise Skips(f"No answer to {name}.")
        return self.answers[name]


def content_of(vector: Dict[str, Any]) -> Optional[io.BytesIO]:
    given = vector.get("content")
    if given is None:
        return None
    return io.BytesIO(given["utf8"].encode() if "utf8" in given else base64.b64decode(given["base64"]))


def trust_of(vector: Dict[str, Any]) -> Trust:
    """The trust that counts. Raises `Fails` if the file cannot be used."""
    if "trustDocument" in vector:
        return read_trust(vector["trustDocument"].encode("utf-8", "surrogatepass"))
    trust = vector.get("trust")
    return shipped_trust() if trust is None else read_trust(json.dumps(trust).encode())


def judge(vector: Dict[str, Any], trust: Trust) -> Union[Result, HistoryResult]:
    rpc, salt, at = vector.get("rpc"), vector.get("salt"), vector.get("at")
    context = Context(
        trust=trust,
        at=None if at is None else parse_time(at),
        node=None if rpc is None else Node(Recorded(rpc)),
        registry=bytes.fromhex(vector["registry"][2:]) if vector.get("registry") else USUAL_REGISTRY,
    )
    text = vector["document"] if "document" in vector else json.dumps(vector["proof"])
    document = text.encode("utf-8", "surrogatepass")
    if "chain" in vector["expected"]:
        return verify_history(document, context)
    passkeys = vector["passkeys"].encode() if "passkeys" in vector else None
    return verify(document, context, content_of(vector), bytes.fromhex(salt[2:]) if salt else None, passkeys)


def found(result: Union[Result, HistoryResult]) -> Dict[str, Any]:
    """What came out, in the form of `expected`."""
    if isinstance(result, HistoryResult):
        proofs = [found(proof) for proof in result.proofs]
        return {"verdict": result.verdict, "chain": result.chain.status, "proofs": proofs}
    steps = []
    for step in result.steps:
        places = {name: place for name, place in (("renewal", step.renewal), ("anchor", step.anchor)) if place is not None}
        steps.append({"name": step.name, **places, "status": step.status})
    time = format_time(result.vouchers[0].time) if result.vouchers else None
    return {"verdict": result.verdict, "time": time, "steps": steps}


def differences(actual: Any, expected: Any, where: str) -> List[str]:
    """Where two values differ."""
    if isinstance(actual, dict) and isinstance(expected, dict) and actual.keys() == expected.keys():
        return [line for name in expected for line in differences(actual[name], expected[name], f"{where}.{name}")]
    if isinstance(actual, list) and isinstance(expected, list) and len(actual) == len(expected):
        return [line for place, each in enumerate(expected) for line in differences(actual[place], each, f"{where}[{place}]")]
    return [] if actual == expected else [f"{where} is {actual}, expected {expected}"]


def outcome(vector: Dict[str, Any]) -> Tuple[Dict[str, Any], str]:
    """What came out, in the form of `expected`, and a sentence about it."""
    try:
        trust = trust_of(vector)
    except Fails as fault:
        return {"unusable": "trust"}, str(fault)
    result = judge(vector, trust)
    return found(result), result.summary


def difference(vector: Dict[str, Any]) -> str:
    """What differs, in one line; empty if nothing does."""
    try:
        actual, summary = outcome(vector)
    except Exception as error:  # a verifier never raises
        return f"raised {error!r}"
    lines = differences(actual, vector["expected"], "result")
    return f"{', '.join(lines)} ({summary})" if lines else ""


def vector_files() -> List[Path]:
    """Those that are named, or all of them."""
    named = [name for name in os.environ.get("HOLDFAST_VECTORS", "").split(",") if name]
    return [VECTORS / f"{name}.json" for name in named] or sorted(VECTORS.glob("*.json"))


class Vectors(unittest.TestCase):
    def test_vectors(self) -> None:
        files = vector_files()
        self.assertTrue(files, f"There are no vectors in {VECTORS}.")
        differing = []
        for file in files:
            line = difference(json.loads(file.read_text("utf-8")))
            if line:
                differing.append(f"{file.stem}: {line}")
        self.assertFalse(differing, f"{len(differing)} of {len(files)} vectors differ:\n" + "\n".join(differing))
        print(f"All {len(files)} vectors agree.", file=sys.stderr)


if __name__ == "__main__":
    unittest.main()
