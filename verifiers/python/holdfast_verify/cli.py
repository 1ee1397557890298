"""The command line (section "On the command line"): 0 PASS, 1 FAIL, 2 INCOMPLETE, 64 wrong usage."""

import argparse
import json
import re
import sys
from contextlib import ExitStack
from typing import Any, BinaryIO, List, NoReturn, Optional

from .clock import parse_time
from .context import USUAL_REGISTRY, Context
from .document import PROOF_FORMAT
from .evm.http import HttpTransport
from .evm.node import Node
from .history import HISTORY_FORMAT, verify_history
from .outcome import Fails
from .report import history_json, history_text, result_json, result_text
from .result import FAIL, INCOMPLETE, PASS
from .strict_json import parse
from .trust import Trust, read_trust, shipped_trust
from .verify import verify

EXIT_CODES = {PASS: 0, FAIL: 1, INCOMPLETE: 2}
USAGE = 64
_MOST_DOCUMENT = 32 << 20
_HEX_OF = {size: re.compile(rf"0x[0-9a-fA-F]{{{2 * size}}}") for size in (20, 32)}


class _Usage(Exception):
    """Wrong usage, or a file that cannot be read or used."""


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise _Usage(message)


def _parser() -> _Parser:
    parser = _Parser("holdfast-verify", description="Verifies a Holdfast proof or history.", allow_abbrev=False)
    parser.add_argument("proof", metavar="PROOF", help="the document; - for standard input")
    parser.add_argument("content", metavar="CONTENT", nargs="?", help="the content; - for standard input")
    parser.add_argument("--rpc", metavar="URL", help="a node of the chain")
    parser.add_argument("--trust", metavar="FILE", help="whom to trust, instead of the trust that ships")
    parser.add_argument("--at", metavar="TIME", help="the time of judgement, such as 2026-12-01T00:00:00Z, or a date")
    parser.add_argument("--registry", metavar="ADDRESS", help="a registry at another address")
    parser.add_argument("--salt", metavar="HEX", help="a salt that the document does not have")
    parser.add_argument("--json", action="store_true", help="print JSON")
    return parser


def _open(name: str, opened: ExitStack) -> BinaryIO:
    if name == "-":
        return sys.stdin.buffer
    try:
        return opened.enter_context(open(name, "rb"))
    except (OSError, ValueError) as error:
        raise _Usage(f"{name} cannot be read: {error}") from error


def _hex(value: Optional[str], size: int, what: str) -> Optional[bytes]:
    if value is None:
        return None
    if not _HEX_OF[size].fullmatch(value):
        raise _Usage(f"{what} is not 0x and {2 * size} hex digits.")
    return bytes.fromhex(value[2:])


def _time(value: Optional[str]) -> Optional[int]:
    time = None if value is None else parse_time(value)
    if value is not None and time is None:
        raise _Usage("--at is not a time such as 2026-12-01T00:00:00Z.")
    return time


def _trust(name: Optional[str], opened: ExitStack) -> Trust:
    if name is None:
        return shipped_trust()
    try:
        return read_trust(_open(name, opened).read())
    except Fails as fault:
        raise _Usage(f"The trust file cannot be used: {fault}") from fault


def _node(url: Optional[str]) -> Optional[Node]:
    if url is not None and not re.match(r"https?://[^/]", url):
        raise _Usage("--rpc is not a URL of http or https.")
    return None if url is None else Node(HttpTransport(url))


def _format_of(document: bytes) -> Any:
    """Which format the document says it has. Text that is no JSON is left to the verification, which fails it."""
    try:
        document.decode("utf-8")
    except UnicodeDecodeError as error:
        raise _Usage("The document is not UTF-8.") from error
    try:
        value = parse(document)
    except Fails:
        is_history = re.search(rb'"format"\s*:\s*"holdfast/history@1"', document[:4096]) is not None
        return HISTORY_FORMAT if is_history else PROOF_FORMAT
    return value.get("format") if isinstance(value, dict) else None


def _run(arguments: List[str], opened: ExitStack) -> int:
    options = _parser().parse_args(arguments)
    if [options.proof, options.content, options.trust].count("-") > 1:
        raise _Usage("Only one of PROOF, CONTENT and the trust file can be standard input.")
    context = Context(
        trust=_trust(options.trust, opened),
        at=_time(options.at),
        node=_node(options.rpc),
        registry=_hex(options.registry, 20, "--registry") or USUAL_REGISTRY,
    )
    salt = _hex(options.salt, 32, "--salt")
    document = _open(options.proof, opened).read(_MOST_DOCUMENT + 1)
    if len(document) > _MOST_DOCUMENT:
        raise _Usage(f"{options.proof} is too large to be a proof.")
    content = None if options.content is None else _open(options.content, opened)
    document_format = _format_of(document)
    if document_format == HISTORY_FORMAT:
        if content is not None:
            raise _Usage("A history takes no content.")
        history = verify_history(document, context)
        verdict, text, value = history.verdict, history_text(history), history_json(history)
    elif document_format == PROOF_FORMAT:
        result = verify(document, context, content, salt)
        verdict, text, value = result.verdict, result_text(result), result_json(result)
    else:
        raise _Usage(f"{options.proof} is not a Holdfast document.")
    print(json.dumps(value, indent=2, ensure_ascii=True) if options.json else text)
    return EXIT_CODES[verdict]


def main(arguments: Optional[List[str]] = None) -> int:
    """The exit code."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")
    with ExitStack() as opened:
        try:
            return _run(sys.argv[1:] if arguments is None else arguments, opened)
        except _Usage as error:
            print(f"holdfast-verify: {error}", file=sys.stderr)
            return USAGE
        except OSError as error:
            print(f"holdfast-verify: a file cannot be read: {error}", file=sys.stderr)
            return USAGE
