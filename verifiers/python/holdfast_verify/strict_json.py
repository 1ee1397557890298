"""JSON that has one meaning: RFC 8259 to the letter, no name twice, limited nesting (sections "The document" and "Digest").

Numbers keep their spelling, as `Number`. One that a double cannot represent as written is refused, wherever it stands.
"""

import re
from fractions import Fraction
from typing import Any, Dict, List, NamedTuple, Optional, Tuple

from .outcome import Fails, require

MOST_LEVELS = 72
MOST_INTEGER = 2**53 - 1
_MOST_DIGITS = 17

_BLANK = re.compile(r"[ \t\n\r]*")
_PLAIN = re.compile(r'[^"\\\x00-\x1f]*')
_NUMBER = re.compile(r"(-?)(0|[1-9][0-9]*)(?:\.([0-9]+))?(?:[eE]([+-]?[0-9]+))?")
_HEX4 = re.compile(r"[0-9a-fA-F]{4}")
_ESCAPES = {'"': '"', "\\": "\\", "/": "/", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
_WORDS = {"true": True, "false": False, "null": None}


class Number(NamedTuple):
    """A number by its spelling: ± digits · 10^exponent. `digits` has no zeros at either end; it is empty for zero."""

    text: str
    negative: bool
    digits: str
    exponent: int

    def integer(self) -> Optional[int]:
        """The exact value if it is an integer from 0 to 2^53 − 1, however it is written; else None."""
        if not self.digits:
            return 0
        if self.negative or self.exponent < 0 or len(self.digits) + self.exponent > 16:
            return None
        value = int(self.digits) * 10**self.exponent
        return value if value <= MOST_INTEGER else None


def _significant(match: "re.Match[str]") -> Tuple[str, int]:
    """The digits of a number without zeros at either end, and the power of ten that belongs to them."""
    whole, fraction, power = match.group(2), match.group(3) or "", match.group(4) or "0"
    written = (whole + fraction).lstrip("0")
    digits = written.rstrip("0")
    magnitude = power.lstrip("+-").lstrip("0")
    limited = int(magnitude or "0") if len(magnitude) <= 12 else 10**12
    exponent = (-limited if power.startswith("-") else limited) - len(fraction) + len(written) - len(digits)
    return digits, exponent if digits else 0


def _number(match: "re.Match[str]") -> Number:
    number = Number(match.group(0), match.group(1) == "-", *_significant(match))
    _check_represented(number)
    return number


def _check_represented(number: Number) -> None:
    """A double represents the number: it is the double's shortest form, or the double rounded to its last digit."""
    value = abs(float(number.text))
    require(value != float("inf"), f"The number {number.text[:40]} is too large for a double.")
    require(value != 0 or not number.digits, f"The number {number.text[:40]} is too small for a double.")
    shortest = _NUMBER.fullmatch(repr(value))
    if shortest is not None and _significant(shortest) == (number.digits, number.exponent):
        return
    require(len(number.digits) <= _MOST_DIGITS, f"The number {number.text[:40]} has more than {_MOST_DIGITS} digits.")
    unit = Fraction(10) ** number.exponent
    too_much = int(number.digits) * unit - Fraction(value)
    require(-unit / 2 < too_much <= unit / 2, f"The number {number.text[:40]} is not the double rounded to its last digit.")


class _Reader:
    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0

    def fault(self, what: str) -> Fails:
        return Fails(f"The text is not JSON: {what} at character {self.at + 1}.")

    def skip_blanks(self) -> None:
        match = _BLANK.match(self.text, self.at)
        assert match is not None
        self.at = match.end()

    def take(self, character: str) -> bool:
        """Whether the next character, after blanks, is this one; then it is read."""
        self.skip_blanks()
        if self.text[self.at : self.at + 1] != character:
            return False
        self.at += 1
        return True

    def expect(self, character: str) -> None:
        if not self.take(character):
            raise self.fault(f"no {character}")

    def value(self, level: int) -> Any:
        """A value in so many objects and lists."""
        self.skip_blanks()
        is_nested = self.text[self.at : self.at + 1] in ("{", "[")
        require(not is_nested or level < MOST_LEVELS, f"The JSON has more than {MOST_LEVELS} levels.")
        if self.take("{"):
            return self.object(level + 1)
        if self.take("["):
            return self.array(level + 1)
        if self.take('"'):
            return self.string()
        match = _NUMBER.match(self.text, self.at)
        if match:
            self.at = match.end()
            return _number(match)
        for word, meaning in _WORDS.items():
            if self.text.startswith(word, self.at):
                self.at += len(word)
                return meaning
        raise self.fault("no value")

    def object(self, level: int) -> Dict[str, Any]:
        result: Dict[str, Any] = {}
        if self.take("}"):
            return result
        while True:
            self.expect('"')
            name = self.string()
            require(name not in result, f"The JSON has the name {ascii(name)} twice in one object.")
            self.expect(":")
            result[name] = self.value(level)
            if self.take("}"):
                return result
            self.expect(",")

    def array(self, level: int) -> List[Any]:
        result: List[Any] = []
        if self.take("]"):
            return result
        while True:
            result.append(self.value(level))
            if self.take("]"):
                return result
            self.expect(",")

    def string(self) -> str:
        """The rest of a string after its first quote. Two escapes that are a surrogate pair become one character."""
        parts: List[str] = []
        while True:
            match = _PLAIN.match(self.text, self.at)
            assert match is not None
            parts.append(match.group())
            self.at = match.end()
            end = self.text[self.at : self.at + 1]
            if end == '"':
                self.at += 1
                return "".join(parts)
            if end != "\\":
                raise self.fault("a string that does not end")
            parts.append(self.escape())

    def escape(self) -> str:
        letter = self.text[self.at + 1 : self.at + 2]
        if letter in _ESCAPES and letter:
            self.at += 2
            return _ESCAPES[letter]
        high = self.unit()
        if 0xD800 <= high < 0xDC00 and self.text.startswith("\\u", self.at):
            before = self.at
            low = self.unit()
            if 0xDC00 <= low < 0xE000:
                return chr(0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00))
            self.at = before
        return chr(high)

    def unit(self) -> int:
        match = _HEX4.match(self.text, self.at + 2)
        if self.text[self.at + 1 : self.at + 2] != "u" or not match:
            raise self.fault("an unknown escape")
        self.at = match.end()
        return int(match.group(), 16)


def parse(data: bytes) -> Any:
    """The value of JSON in UTF-8. Raises `Fails` for anything else."""
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise Fails("The text is not UTF-8.") from error
    reader = _Reader(text)
    value = reader.value(0)
    reader.skip_blanks()
    if reader.at != len(text):
        raise reader.fault("something after the end")
    return value
