"""Single parts against published values, and hostile input that must end in an orderly refusal."""

import sys
import time
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from holdfast_verify.clock import format_time, parse_time  # noqa: E402
from holdfast_verify.crypto import ecdsa, rsa  # noqa: E402
from holdfast_verify.crypto.curve import P256, P384, combine  # noqa: E402
from holdfast_verify.crypto.keccak import keccak256  # noqa: E402
from holdfast_verify.crypto.ripemd160 import ripemd160  # noqa: E402
from holdfast_verify.evm.rlp import decode, encode_integer  # noqa: E402
from holdfast_verify.jcs import canonical, double_text  # noqa: E402
from holdfast_verify.opentimestamps.file import read_file  # noqa: E402
from holdfast_verify.outcome import Fails  # noqa: E402
from holdfast_verify.rfc3161.der import read_der  # noqa: E402
from holdfast_verify.strict_json import parse  # noqa: E402


class Hashes(unittest.TestCase):
    def test_keccak(self) -> None:
        self.assertEqual(keccak256(b"").hex(), "c5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470")
        self.assertEqual(keccak256(b"abc").hex(), "4e03657aea45a94fc7d47ba826c8d667c0d1e6e33a64a036ec44f58fa12d6c45")
        fox = b"The quick brown fox jumps over the lazy dog"
        self.assertEqual(keccak256(fox).hex(), "4d741b6f1eb29cb2a9b9911c82f56fa8d73b04959d3d9d222895df6c0b28aa15")
        for length in (135, 136, 137, 272):
            self.assertEqual(len(keccak256(bytes(length))), 32)

    def test_ripemd160(self) -> None:
        self.assertEqual(ripemd160(b"").hex(), "9c1185a5c5e9fc54612808977ee8f548b2258d31")
        self.assertEqual(ripemd160(b"abc").hex(), "8eb208f7e05d987a9b044a8e98c6b087f15a0bfc")
        self.assertEqual(ripemd160(b"1234567890" * 8).hex(), "9b752e45573d4b39f4dbd3323cab82bf63326bfb")


class Signatures(unittest.TestCase):
    """ECDSA by RFC 6979, appendix A.2; the private keys there give the points."""

    def test_p256(self) -> None:
        secret = 0xC9AFA9D845BA75166B5C215767B1D6934E50C3DB36E89B127B8A622B120F6721
        key = combine(P256, secret, P256.generator, 0, P256.generator)
        assert key is not None
        r = 0xEFD48B2AACB6A8FD1140DD9CD45E81D69D2C877B56AAF991C34D0EA84EAF3716
        s = 0xF7CB1C942D657C41D436C7A1B6E29F65F3E900DBB9AFF4064DC4AB2F843ACDA8
        digest = bytes.fromhex("af2bdbe1aa9b6ec1e2ade1d694f41fc71a831d0268e9891562113d8a62add1bf")  # SHA-256 of "sample"
        self.assertTrue(ecdsa.verifies(P256, key, digest, r, s))
        self.assertTrue(ecdsa.verifies(P256, key, digest + b"longer", r, s))
        for other in ((r + 1, s), (r, s + 1), (0, s), (r, 0), (r + P256.n, s), (r, P256.n)):
            self.assertFalse(ecdsa.verifies(P256, key, digest, *other))

    def test_p384(self) -> None:
        import hashlib

        secret = int("6B9D3DAD2E1B8C1C05B19875B6659F4DE23C3B667BF297BA9AA47740787137D896D5724E4C70A825F872C9EA60D2EDF5", 16)
        key = combine(P384, secret, P384.generator, 0, P384.generator)
        assert key is not None
        self.assertTrue(P384.contains(key))
        r = int("94EDBB92A5ECB8AAD4736E56C691916B3F88140666CE9FA73D64C4EA95AD133C81A648152E44ACF96E36DD1E80FABE46", 16)
        s = int("99EF4AEB15F178CEA1FE40DB2603138F130E740A19624526203B6351D0A3A94FA329C145786E679E7B82C71A38628AC8", 16)
        digest = hashlib.sha384(b"sample").digest()
        self.assertTrue(ecdsa.verifies(P384, key, digest, r, s))
        self.assertFalse(ecdsa.verifies(P384, key, digest[::-1], r, s))

    def test_rsa_padding(self) -> None:
        n = (1 << 2048) - 1942289  # odd, and large enough: only the form is tested
        key = rsa.RsaKey(n, 3)
        for size in (0, 255, 256, 257):
            self.assertFalse(rsa.verifies_pkcs1(key, "sha256", b"", bytes(size)))
            self.assertFalse(rsa.verifies_pss(key, "sha256", 20, b"", bytes(size)))
        self.assertFalse(rsa.verifies_pss(key, "sha256", 10**9, b"", b"\x01" * 256))


class Numbers(unittest.TestCase):
    """RFC 8785, appendix B, and its neighbours."""

    def test_doubles(self) -> None:
        import struct

        published = {
            "0000000000000000": "0",
            "8000000000000000": "0",
            "0000000000000001": "5e-324",
            "8000000000000001": "-5e-324",
            "7fefffffffffffff": "1.7976931348623157e+308",
            "4340000000000000": "9007199254740992",
            "c340000000000000": "-9007199254740992",
            "4430000000000000": "295147905179352830000",
            "44b52d02c7e14af5": "9.999999999999997e+22",
            "44b52d02c7e14af6": "1e+23",
            "44b52d02c7e14af7": "1.0000000000000001e+23",
            "444b1ae4d6e2ef4e": "999999999999999700000",
            "444b1ae4d6e2ef4f": "999999999999999900000",
            "444b1ae4d6e2ef50": "1e+21",
            "3eb0c6f7a0b5ed8c": "9.999999999999997e-7",
            "3eb0c6f7a0b5ed8d": "0.000001",
            "41b3de4355555553": "333333333.3333332",
            "41b3de4355555557": "333333333.33333343",
            "becbf647612f3696": "-0.0000033333333333333333",
            "43143ff3c1cb0959": "1424953923781206.2",
        }
        for encoded, text in published.items():
            self.assertEqual(double_text(struct.unpack(">d", bytes.fromhex(encoded))[0]), text)

    def test_exactness(self) -> None:
        for good in ("0.1", "1e-7", "5e-324", "1E2", "-0", "-0.0e9", "333333333.33333331", "1125899906842624.3", "9007199254740991"):
            canonical(parse(good.encode()))
        bad = ("1.000000000000000001", "1e400", "1e-400", "3e-324", "333333333.33333329", "9007199254740992", "1e30")
        for text in (*bad, "-9007199254740993", "9" * 5000, "1e" + "9" * 5000, "0." + "1" * 5000):
            with self.assertRaises(Fails, msg=text[:40]):
                canonical(parse(text.encode()))

    def test_order_and_escapes(self) -> None:
        names = '{"\\u20ac":1,"\\r":2,"\\ufb33":3,"1":4,"\\ud83d\\ude00":5,"\\u0080":6,"\\u00f6":7}'
        wanted = '{"\\r":2,"1":4,"\x80":6,"ö":7,"€":1,"😀":5,"\ufb33":3}'
        self.assertEqual(canonical(parse(names.encode())).decode(), wanted)


class Hostile(unittest.TestCase):
    def test_json(self) -> None:
        for text in (
            b"",
            b"[" * 100_000,
            b'{"a":' * 100_000,
            b'{"a":1,"a":2}',
            b'{"a":1,"\\u0061":2}',
            b"NaN",
            b"[1,]",
            b"01",
            b"+1",
            b".5",
            b"1.",
            b"'a'",
            b'"\t"',
            b'"\\x"',
            b'"\\u12',
            b'"\\ud8',
            "٣".encode(),
            b"\xff",
            b"\xef\xbb\xbf{}",
            b"{}x",
            b"\xc2\xa0{}",
            b"nul",
            b"truee",
        ):
            with self.assertRaises(Fails, msg=text[:20]):
                parse(text)

    def test_binary_forms(self) -> None:
        for data in (b"", b"\x30\x80\x00\x00", b"\x30\x84\x00\x00\x00\x00", b"\x30\x83\xff\xff\xff", b"\x30\x80" * 1000, b"\x1f\x01"):
            with self.assertRaises(Fails):
                read_der(data)
        for data in (b"", b"\xff" * 9, b"\xbf" + b"\xff" * 8, b"\xc1" * 500, b"\xf8\x38"):
            with self.assertRaises(Fails):
                decode(data)
        for data in (b"", b"\x00" * 100, b"\xff" * 65_536):
            with self.assertRaises(Fails):
                read_file(data)

    def test_cut_off_everywhere(self) -> None:
        """No prefix of a good file is good, and none ends in anything but a refusal."""
        magic = bytes.fromhex("004f70656e54696d657374616d7073000050726f6f6600bf89e2e884e89294")
        good = magic + b"\x01\x08" + bytes(32) + b"\xff\xf0\x01\x00\x08\x00" + bytes.fromhex("0588960d73d71901") + b"\x01\x07"
        good += b"\x00" + bytes(8) + b"\x00"
        self.assertEqual(read_file(good).bitcoin[0][0], 7)
        for end in range(len(good)):
            with self.assertRaises(Fails):
                read_file(good[:end])

    def test_many_elements_in_reasonable_time(self) -> None:
        started = time.process_time()
        content = b"\x05\x00" * 262_143
        read_der(b"\x30\x83" + len(content).to_bytes(3, "big") + content)
        with self.assertRaises(Fails):
            read_der(b"\x30\x83" + (len(content) + 2).to_bytes(3, "big") + content + b"\x05\x00")
        self.assertLess(time.process_time() - started, 20)


class Small(unittest.TestCase):
    def test_rlp_integers(self) -> None:
        for value, text in ((0, "80"), (127, "7f"), (128, "8180"), (256, "820100")):
            self.assertEqual(encode_integer(value).hex(), text)

    def test_times(self) -> None:
        for text in ("1970-01-01T00:00:00Z", "2000-02-29T23:59:59.999Z", "2026-11-15T02:19:30Z", "0001-01-01T00:00:00Z"):
            parsed = parse_time(text)
            assert parsed is not None
            self.assertEqual(format_time(parsed), text)
        for text in ("2026-02-29T00:00:00Z", "2026-01-01T24:00:00Z", "2026-01-1", "2026-01-01T00:00:60Z", "2026-01-01T00:00:00", "٢026-01-01T00:00:00Z"):
            self.assertIsNone(parse_time(text))
        self.assertEqual(parse_time("2026-11-15T02:19:30Z"), 1_794_709_170_000)
        self.assertEqual(format_time((2**53 - 1) * 1000)[:11], "285428751-1")


if __name__ == "__main__":
    unittest.main()
