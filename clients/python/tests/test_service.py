"""The client against a running service: HOLDFAST_URL and HOLDFAST_API_KEY say which."""

import hashlib
import io
import os
import tempfile
import threading
import unittest
from pathlib import Path

from holdfast_client import Client, ConfirmationTimeout, HoldfastError, NamedFile
from holdfast_client.error_classes import (
    ConflictError,
    InvalidCursorError,
    ResourceNotFoundError,
    UnauthorizedError,
    VaultDeactivatedError,
)

URL = os.environ.get("HOLDFAST_URL", "")
KEY = os.environ.get("HOLDFAST_API_KEY", "")


def client() -> Client:
    return Client(URL, KEY)


class Lists(unittest.TestCase):
    def test_are_iterated_across_pages(self):
        holdfast = client()
        vault = holdfast.create_vault(name="Lists")["address"]
        records = [{"data": {"number": number}} for number in range(5)]
        made = holdfast.create_records(vault_address=vault, records=records)
        listed = holdfast.list_records(vault_address=vault, limit=2)
        self.assertEqual([one["id"] for one in listed], [one["id"] for one in reversed(made)])
        self.assertEqual([len(page.data) for page in listed.pages()], [2, 2, 1])
        rest = holdfast.list_records(vault_address=vault, limit=3, cursor=listed.page().next_cursor)
        self.assertEqual(len(rest.page().data), 3)


class Errors(unittest.TestCase):
    def test_have_a_class_for_their_code(self):
        holdfast = client()
        vault = holdfast.create_vault(name="Errors")["address"]
        holdfast.deactivate_vault(vault)
        with self.assertRaises(VaultDeactivatedError) as refused:
            holdfast.create_record(vault_address=vault, data={})
        error = refused.exception
        self.assertIsInstance(error, HoldfastError)
        self.assertEqual((error.status, error.error_code), (409, "vault_deactivated"))
        self.assertTrue(error.doc_url.endswith("#vault_deactivated"))
        self.assertRegex(error.request_id, "^[0-9a-f-]{36}$")
        with self.assertRaises(ResourceNotFoundError):
            holdfast.get_record("rec_none")
        with self.assertRaises(UnauthorizedError):
            Client(URL, "hf_live_x").get_stats()
        with self.assertRaises(InvalidCursorError):
            holdfast.list_vaults(cursor="x").page()
        for name in ("", "..", None):
            with self.assertRaises(ValueError):
                holdfast.get_vault(name)

    def test_a_proof_that_is_asked_for_too_early_is_a_conflict(self):
        holdfast = client()
        vault = holdfast.create_vault(name="Early")["address"]
        record = holdfast.create_record(vault_address=vault, data={"a": 1})
        with self.assertRaises(ConflictError):
            holdfast.get_record_proof(record["id"])
        with self.assertRaises(ConfirmationTimeout):
            holdfast.wait_until_confirmed(record, timeout=0.05)


class Keys(unittest.TestCase):
    def test_the_same_key_creates_once(self):
        holdfast = client()
        options = {"idempotency_key": "python-once"}
        first = holdfast.create_vault(name="Once", options=options)
        seen = {}
        again = holdfast.create_vault(name="Once", options={**options, "on_headers": seen.update})
        self.assertEqual(first, again)
        self.assertEqual({name.lower(): value for name, value in seen.items()}["idempotency-replayed"], "true")
        self.assertNotEqual(first["id"], holdfast.create_vault(name="Once")["id"])

    def test_what_may_be_none_can_be_none(self):
        url = "https://127.0.0.1:9/hook"
        endpoint = client().create_endpoint(url=url, event_types=["vault.deactivated"], rate_limit=None)
        self.assertIsNone(endpoint["rateLimit"])


class Files(unittest.TestCase):
    def test_are_sent_from_a_path_from_memory_and_as_a_stream(self):
        holdfast = client()
        vault = holdfast.create_vault(name="Files")["address"]
        content = os.urandom(3_000_000)
        digest = "0x" + hashlib.sha256(content).hexdigest()
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "Überblick.bin")
            path.write_bytes(content)
            progress = []
            options = {"on_progress": lambda sent, total: progress.append((sent, total))}
            made = holdfast.create_file(vault_address=vault, file=path, options=options)
            self.assertEqual((made["contentHash"], made["name"]), (digest, "Überblick.bin"))
            self.assertEqual(progress[-1], (len(content), len(content)))
            self.assertGreater(len(progress), 10)
            with open(path, "rb") as opened:
                version = holdfast.create_file_version(made["id"], file=opened)
            self.assertEqual((version["version"], version["contentHash"]), (2, digest))
        named = NamedFile(lambda: io.BytesIO(content), name="a.bin", media_type="application/x-thing")
        self.assertEqual(holdfast.create_file(vault_address=vault, file=named)["mediaType"], "application/x-thing")
        pieces = (content[place : place + 100_000] for place in range(0, len(content), 100_000))
        self.assertEqual(holdfast.create_file(vault_address=vault, file=pieces)["contentHash"], digest)
        self.assertEqual(holdfast.create_file(vault_address=vault, file=b"")["size"], 0)
        self.assertIsNone(holdfast.create_file(vault_address=vault, name="x", content_hash=digest)["size"])
        with holdfast.download_file_content(made["id"], version=1) as download:
            self.assertEqual(download.read(10), content[:10])
            self.assertEqual(download.read(), content[10:])


class Events(unittest.TestCase):
    def test_resume_at_a_cursor_in_the_stream_and_in_the_feed(self):
        key = client().create_api_key(name="Events")["key"]
        holdfast = Client(URL, key)
        vault = holdfast.create_vault(name="Events")["address"]
        received = []
        opened = threading.Event()

        def read():
            stream = holdfast.stream_events(options={"on_headers": lambda _: opened.set()})
            for one in stream:
                if one.event["data"].get("address") == vault:
                    received.append(one)
                if len(received) == 4:
                    return

        reader = threading.Thread(target=read, daemon=True)
        reader.start()
        self.assertTrue(opened.wait(30))
        for _ in range(2):
            holdfast.deactivate_vault(vault)
            holdfast.reactivate_vault(vault)
        reader.join(60)
        types = [one.event["type"] for one in received]
        self.assertEqual(types, ["vault.deactivated", "vault.reactivated"] * 2)
        for follow in (holdfast.follow_events, holdfast.stream_events):
            rest = follow(cursor=received[1].cursor)
            mine = (one.event["id"] for one in rest if one.event["data"].get("address") == vault)
            self.assertEqual([next(mine), next(mine)], [one.event["id"] for one in received[2:]])
        for _ in holdfast.list_events(limit=2):
            pass


if __name__ == "__main__":
    unittest.main()
