"""The command as a process: exit codes, standard input, histories, JSON, and a node over HTTP."""

import http.server
import json
import os
import subprocess
import sys
import tempfile
import threading
import unittest
from pathlib import Path
from typing import Any, Dict, List, Optional

ROOT = Path(__file__).resolve().parent.parent
VECTORS = ROOT.parent.parent / "test" / "vectors"


def vector(name: str) -> Dict[str, Any]:
    return dict(json.loads((VECTORS / f"{name}.json").read_text("utf-8")))


class Node(http.server.BaseHTTPRequestHandler):
    """Answers as recorded. The first `busy` calls get a temporary error."""

    answers: Dict[str, Any] = {}
    busy = 0
    code: Optional[int] = None

    def do_POST(self) -> None:
        call = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        name = f"{call['method']} {json.dumps(call['params'], separators=(',', ':'))}"
        answer: Dict[str, Any] = {"jsonrpc": "2.0", "id": call["id"]}
        status = 200
        if Node.busy > 0:
            Node.busy -= 1
            status = 503 if Node.code is None else 200
            answer["error"] = {"code": Node.code or 0, "message": "busy"}
        elif name in Node.answers:
            answer["result"] = Node.answers[name]
        else:
            answer["error"] = {"code": -32000, "message": "unknown"}
        body = json.dumps(answer).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        pass


class Command(unittest.TestCase):
    def setUp(self) -> None:
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.directory = Path(directory.name)

    def run_command(self, *arguments: str, stdin: bytes = b"") -> "subprocess.CompletedProcess[bytes]":
        environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONWARNINGS": "error", "PYTHONDONTWRITEBYTECODE": "1"}
        command = [sys.executable, "-m", "holdfast_verify", *arguments]
        done = subprocess.run(command, input=stdin, capture_output=True, env=environment, cwd=self.directory, timeout=120)
        self.assertNotIn(b"Traceback", done.stderr)
        return done

    def write(self, name: str, data: Any) -> str:
        path = self.directory / name
        path.write_bytes(data if isinstance(data, bytes) else json.dumps(data).encode())
        return str(path)

    def arguments(self, name: str) -> List[str]:
        case = vector(name)
        arguments = [self.write("proof.json", case["proof"])]
        if case["content"]:
            arguments.append(self.write("content", case["content"]["utf8"].encode()))
        if case["trust"]:
            arguments += ["--trust", self.write("trust.json", case["trust"])]
        return [*arguments, "--at", case["at"]] if case["at"] else arguments

    def test_pass(self) -> None:
        done = self.run_command(*self.arguments("record-jcs"))
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertTrue(done.stdout.startswith(b"PASS: The content existed on 2026-11-15T02:19:30Z"), done.stdout)

    def test_time_to_come(self) -> None:
        done = self.run_command(*self.arguments("evm-judged-at-no-time"))
        self.assertTrue(done.stdout.startswith(b"PASS: The content existed before 2100-01-01T00:00:00Z"), done.stdout)

    def test_fail(self) -> None:
        done = self.run_command(*self.arguments("tampered-seal-vault"))
        self.assertEqual(done.returncode, 1)
        self.assertTrue(done.stdout.startswith(b"FAIL: "))

    def test_incomplete(self) -> None:
        done = self.run_command(*self.arguments("evm-offline-untrusted"))
        self.assertEqual(done.returncode, 2)
        self.assertTrue(done.stdout.startswith(b"INCOMPLETE: "))

    def test_standard_input(self) -> None:
        proof, content, *options = self.arguments("record-jcs")
        document, data = Path(proof).read_bytes(), Path(content).read_bytes()
        self.assertEqual(self.run_command("-", content, *options, stdin=document).returncode, 0)
        self.assertEqual(self.run_command(proof, "-", *options, stdin=data).returncode, 0)
        self.assertEqual(self.run_command(proof, "-", *options, stdin=data + b" x").returncode, 1)
        self.assertEqual(self.run_command("-", "-", *options).returncode, 64)

    def test_json(self) -> None:
        done = self.run_command(*self.arguments("three-clocks"), "--json")
        value = json.loads(done.stdout)
        self.assertEqual(sorted(value), ["steps", "summary", "verdict", "vouchers"])
        self.assertEqual((done.returncode, value["verdict"], len(value["vouchers"])), (0, "pass", 3))
        self.assertEqual([step["name"] for step in value["steps"]][:2], ["digest", "claims"])

    def test_history(self) -> None:
        for name, code in (("history-good", 0), ("history-gap", 1), ("history-erased-transfer", 2), ("history-malformed-no-proofs", 1)):
            done = self.run_command(*self.arguments(name), "--json")
            self.assertEqual(done.returncode, code, name)
            self.assertEqual(sorted(json.loads(done.stdout)), ["chain", "proofs", "verdict"])
            self.assertEqual(self.run_command(*self.arguments(name)).returncode, code)
        self.assertEqual(self.run_command(*self.arguments("history-good"), self.write("content", b"")).returncode, 64)

    def test_malformed(self) -> None:
        twice = b'{"format":"holdfast/proof@2","format":"holdfast/proof@1"}'
        malformed = (b"{", b'{"format":"holdfast/proof@1"}', b"[" * 100_000, b'{"format":"holdfast/history@1"}', b"", b"NaN", twice)
        for data in malformed:
            done = self.run_command(self.write("proof.json", data))
            self.assertEqual(done.returncode, 1, data[:30])
            self.assertTrue(done.stdout.startswith(b"FAIL: "))

    def test_no_holdfast_document(self) -> None:
        others = (
            *(b"{}", b"[]", b"1", b'{"format":"holdfast/proof@2"}', b'{"format":"holdfast/trust@1"}', b'{"format":{}}'),
            *(b'{"a":1,"a":2}', b"[1.000000000000000000001]", b"9" * 5000, b'{"format":"holdfast/proof@1","format":1}'),
        )
        for data in others:
            self.assertEqual(self.run_command(self.write("proof.json", data)).returncode, 64, data)

    def test_reader_that_stops_early(self) -> None:
        command = [sys.executable, "-m", "holdfast_verify", *self.arguments("three-clocks")]
        read, write = os.pipe()
        os.close(read)
        with os.fdopen(write, "wb") as closed:
            done = subprocess.run(command, cwd=Path(__file__).parents[1], stdout=closed, stderr=subprocess.PIPE, check=False)
        self.assertEqual((done.returncode, done.stderr), (0, b""))

    def test_usage(self) -> None:
        proof = self.arguments("record-jcs")[0]
        for arguments in (
            [],
            ["missing.json"],
            [proof, "missing"],
            [str(self.directory)],
            [proof, str(self.directory)],
            [proof, "--at", "yesterday"],
            [proof, "--at", "2026-01-01T24:00:00Z"],
            [proof, "--at", "2026-01-01T23:59:60Z"],
            [proof, "--at", "2026-01-01T00:00:00+24:00"],
            [proof, "--at", "9999-12-31T23:59:59-01:00"],
            [proof, "--at", "0001-01-01T00:00:00+01:00"],
            [proof, "--at", "0000-01-01"],
            [proof, "--registry", "0xCfaee48d743f42264aaf3521fc464606cfafe23a"],
            [self.write("latin.json", b"\xff")],
            ["-", "--trust", "-"],
            [proof, "--salt", "0x12"],
            [proof, "--registry", "0x12"],
            [proof, "--rpc", "file:///etc/passwd"],
            [proof, "--trust", "missing.json"],
            [proof, "--trust", self.write("trust.json", b"{")],
            [proof, "--trust", self.write("other.json", {"format": "holdfast/trust@1", "unknown": []})],
            [proof, "--trust", self.write("roots.json", {"format": "holdfast/trust@1", "tsaRoots": ["x"]})],
            [proof, "--unknown"],
            [proof, "content", "more"],
            ["a\0b"],
        ):
            if any("\0" in argument for argument in arguments):
                continue
            self.assertEqual(self.run_command(*arguments).returncode, 64, arguments)
        self.assertEqual(self.run_command("--help").returncode, 0)

    def test_passkeys(self) -> None:
        for name, code in (("statements-second", 0), ("statements-not-signed", 1), ("statements-unproven", 2)):
            arguments = self.arguments(name)
            self.assertEqual(self.run_command(*arguments).returncode, 0)
            statements = self.write("passkeys.jsonl", vector(name)["passkeys"].encode())
            self.assertEqual(self.run_command(*arguments, "--passkeys", statements).returncode, code, name)
            proof, _, *options = arguments
            self.assertEqual(self.run_command(proof, *options, "--passkeys", statements).returncode, 64)
            latin = self.write("latin.jsonl", b"\xff")
            self.assertEqual(self.run_command(*arguments, "--passkeys", latin).returncode, 64)

    def test_salt(self) -> None:
        case = vector("hmac-salt-beside")
        arguments = self.arguments("hmac-salt-beside")
        self.assertEqual(self.run_command(*arguments).returncode, 2)
        for salt in (case["salt"], case["salt"][2:], case["salt"].upper()):
            self.assertEqual(self.run_command(*arguments, "--salt", salt).returncode, 0)
        self.assertEqual(self.run_command(*arguments, "--salt", "0x" + "00" * 32).returncode, 1)

    def serve(self, answers: Dict[str, Any], busy: int = 0, code: Optional[int] = None) -> str:
        Node.answers, Node.busy, Node.code = answers, busy, code
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Node)
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        self.addCleanup(thread.join)
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        return f"http://127.0.0.1:{server.server_address[1]}/"

    def test_node(self) -> None:
        case = vector("evm-by-node")
        for busy, code in ((0, None), (2, None), (1, -32005)):
            done = self.run_command(*self.arguments("evm-by-node"), "--rpc", self.serve(case["rpc"], busy, code))
            self.assertEqual(done.returncode, 0, done.stdout)

    def test_node_not_now(self) -> None:
        done = self.run_command(*self.arguments("evm-by-node"), "--json", "--rpc", self.serve({}, busy=1000))
        self.assertEqual(done.returncode, 2)
        step = next(step for step in json.loads(done.stdout)["steps"] if step["name"] == "chain")
        self.assertTrue(step["message"].startswith("The chain is not available right now, try again"))
        self.assertIs(step["notNow"], True)

    def test_node_of_another_chain(self) -> None:
        case = vector("evm-by-node")
        for answers in ({}, {**case["rpc"], "eth_chainId []": "0x2"}, {**case["rpc"], "eth_chainId []": {"no": "sense"}}):
            done = self.run_command(*self.arguments("evm-by-node"), "--rpc", self.serve(answers))
            self.assertEqual(done.returncode, 2, done.stdout)

    def test_no_node(self) -> None:
        self.assertEqual(self.run_command(*self.arguments("evm-by-node"), "--rpc", "http://127.0.0.1:1/").returncode, 2)


if __name__ == "__main__":
    unittest.main()
