"""The command line (section "On the command line"): 0 PASS, 1 FAIL, 2 INCOMPLETE, 64 wrong usage."""

import argparse
import json
import os
import re
import sys
from contextlib import ExitStack
from typing import Any, BinaryIO, List, NoReturn, Optional

from .clock import parse_time
from .context import USUAL_REGISTRY, Context
from .crypto.keccak import keccak256
from .document import PROOF_FORMAT
from .evm.http import HttpTransport
from .evm.node import Node
from .history import HISTORY_FORMAT, verify_history
from .outcome import Fails
from .report import history_json, history_text, result_json, result_text
from .result import FAIL, INCOMPLETE, PASS
from .trust import Trust, read_trust, shipped_trust
from .verify import verify

EXIT_CODES = {PASS: 0, FAIL: 1, INCOMPLETE: 2}
USAGE = 64
_MOST_DOCUMENT = 32 << 20
_MOST_STATEMENTS = 128 << 20
_ADDRESS, _SALT = re.compile(r"0x[0-9a-fA-F]{40}"), re.compile(r"(?:0[xX])?[0-9a-fA-F]{64}")


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
    parser.add_argument("--trust", metavar="FILE", help="whom to trust, and which certificates are revoked, instead of the trust that ships")
    parser.add_argument("--at", metavar="TIME", help="the time of judgement, such as 2026-12-01T00:00:00Z, or a date")
    parser.add_argument("--registry", metavar="ADDRESS", help="a registry at another address")
    parser.add_argument("--passkeys", metavar="FILE", help="the statements about passkeys of workers, for a sign-off")
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


def _statements(name: str, content: Optional[str], opened: ExitStack) -> bytes:
    if content is None:
        raise _Usage("--passkeys is for a sign-off: give that as CONTENT.")
    data = _open(name, opened).read(_MOST_STATEMENTS + 1)
    if len(data) > _MOST_STATEMENTS:
        raise _Usage(f"{name} is too large.")
    try:
        data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise _Usage(f"{name} is not UTF-8.") from error
    return data


def _salt(value: Optional[str]) -> Optional[bytes]:
    if value is None:
        return None
    if not _SALT.fullmatch(value):
        raise _Usage("--salt is not 64 hex digits.")
    return bytes.fromhex(value[-64:])


def _registry(value: Optional[str]) -> bytes:
    """An address. If it has small and capital letters, they are a checksum (EIP-55)."""
    if value is None:
        return USUAL_REGISTRY
    if not _ADDRESS.fullmatch(value):
        raise _Usage("--registry is not 0x and 40 hex digits.")
    digits = value[2:]
    marks = keccak256(digits.lower().encode()).hex()
    checked = "".join(digit.upper() if mark >= "8" else digit for digit, mark in zip(digits.lower(), marks))
    if digits not in (digits.lower(), digits.upper(), checked):
        raise _Usage("--registry has a wrong checksum.")
    return bytes.fromhex(digits)


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
    """Which format the document says it has. Text that is no JSON is left to the verification, which fails it.

    Here any JSON will do, also with a name twice: the last one counts.
    """
    try:
        text = document.decode("utf-8")
    except UnicodeDecodeError as error:
        raise _Usage("The document is not UTF-8.") from error
    try:
        value = json.loads(text, parse_int=str, parse_float=str, parse_constant=_no_json)
    except (ValueError, RecursionError):
        return PROOF_FORMAT
    return value.get("format") if isinstance(value, dict) else None


def _no_json(word: str) -> NoReturn:
    raise ValueError(f"{word} is no JSON")


def _run(arguments: List[str], opened: ExitStack) -> int:
    options = _parser().parse_args(arguments)
    if [options.proof, options.content, options.trust, options.passkeys].count("-") > 1:
        raise _Usage("Only one of the files can be standard input.")
    context = Context(
        trust=_trust(options.trust, opened),
        at=_time(options.at),
        node=_node(options.rpc),
        registry=_registry(options.registry),
    )
    salt = _salt(options.salt)
    passkeys = None if options.passkeys is None else _statements(options.passkeys, options.content, opened)
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
        result = verify(document, context, content, salt, passkeys)
        verdict, text, value = result.verdict, result_text(result), result_json(result)
    else:
        raise _Usage(f"{options.proof} is not a Holdfast document.")
    _print(json.dumps(value, indent=2, ensure_ascii=True) if options.json else text)
    return EXIT_CODES[verdict]


def _print(text: str) -> None:
    """Whoever reads may stop early, such as `head`; the verdict is the same."""
    try:
        print(text, flush=True)
    except BrokenPipeError:
        # At its end the interpreter would try to write the rest once more.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


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
