"""The step `block`: a Bitcoin block commits to the root's hash (section "opentimestamps")."""

import hashlib
from typing import List, NamedTuple, Tuple

from ..anchors_form import OpenTimestampsAnchor
from ..clock import format_time
from ..context import Context
from ..outcome import Skips, require
from .file import OtsFile, read_file
from .header import Header, read_header
from .operations import SHA256


class Block(NamedTuple):
    """A Bitcoin block that vouches: its time in milliseconds, its height, and what to say."""

    time: int
    height: int
    message: str


def _check_header(height: int, header: Header, file: OtsFile, context: Context) -> bool:
    """The header fits the file, and does not contradict the trust file. Returns whether it is trusted."""
    messages = [message for its_height, message in file.bitcoin if its_height == height]
    require(len(messages) > 0, f"The file says nothing about the block {height} of a header.")
    require(header.has_work(), f"The header of block {height} has too little work.")
    commits = all(message.value() == header.merkle_root for message in messages)
    require(commits, f"The header of block {height} does not commit to the root.")
    hashes = context.trust.bitcoin.get(height, [])
    require(not hashes or header.hash in hashes, f"The trust file has another hash for Bitcoin block {height}.")
    return header.hash in hashes


def judge_block(anchor: OpenTimestampsAnchor, root: bytes, context: Context) -> Block:
    """The earliest trusted block."""
    file = read_file(anchor.proof)
    require(file.hash_tag == SHA256, "The file is not about a SHA-256.")
    require(file.digest == hashlib.sha256(root).digest(), "The file is about something else.")
    trusted: List[Tuple[int, int]] = []
    for height, data in anchor.headers:
        header = read_header(data)
        if _check_header(height, header, file, context) and not context.is_later(header.time * 1000):
            trusted.append((header.time * 1000, height))
    if not trusted:
        raise Skips("No Bitcoin block of it is trusted. A header alone is no proof of Bitcoin's chain.")
    time, height = min(trusted)
    return Block(time, height, f"Bitcoin block {height} vouches for {format_time(time)}, give or take 2 hours.")
