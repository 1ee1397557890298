"""When the client tries again, with answers of a small server here, and what it says when it gives up."""

import json
import threading
import unittest
from http.server import BaseHTTPRequestHandler, HTTPServer
from unittest import mock

from holdfast_client import Client, ConnectionFailed, HoldfastError
from holdfast_client.error_classes import ServiceUnavailableError
from holdfast_client.webhooks import verify_webhook

UNAVAILABLE = (503, {"errorCode": "service_unavailable", "message": "Away."}, {})
VAULT = (201, {"id": "vlt_1"}, {})
LOST = None


class Script:
    """Answers in this order; the last one stays. LOST is a connection that breaks."""

    def __init__(self, *answers):
        self.answers = answers
        self.requests = []
        script = self

        class Handler(BaseHTTPRequestHandler):
            def answer(self):
                body = self.rfile.read(int(self.headers.get("content-length") or 0))
                answer = script.answers[min(len(script.requests), len(script.answers) - 1)]
                headers = {name.lower(): value for name, value in self.headers.items()}
                script.requests.append((self.command, self.path, headers, body))
                if answer is LOST:
                    return
                status, content, more = answer
                text = (content if isinstance(content, str) else json.dumps(content)).encode()
                self.send_response(status)
                for name, value in {"content-type": "application/json", **more}.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(text)

            do_GET = do_POST = do_PUT = do_DELETE = do_PATCH = answer

            def log_message(self, *_):
                pass

        self.server = HTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
        self.client = Client(f"http://127.0.0.1:{self.server.server_port}/", "k")

    def __enter__(self):
        self.sleep = mock.patch("time.sleep")
        self.waits = self.sleep.start()
        return self

    def __exit__(self, *_):
        self.sleep.stop()
        self.server.shutdown()
        self.server.server_close()


class Retries(unittest.TestCase):
    def test_waits_as_long_as_the_service_asks_and_otherwise_longer_each_time(self):
        limited = (429, {"errorCode": "rate_limit_exceeded"}, {"retry-after": "7"})
        with Script(limited, UNAVAILABLE, UNAVAILABLE, UNAVAILABLE, VAULT) as script:
            self.assertEqual(script.client.create_vault(name="x")["id"], "vlt_1")
            asked, *own = [call.args[0] for call in script.waits.call_args_list if call.args[0] > 0.1]
            self.assertEqual(asked, 7)
            for place, seconds in enumerate(own, 1):
                self.assertTrue(0.25 * 2**place <= seconds <= 0.5 * 2**place, own)
            keys = {headers["idempotency-key"] for _, _, headers, _ in script.requests}
            self.assertEqual((len(own), len(keys)), (3, 1))

    def test_gives_up_with_the_last_error_and_at_once_if_the_wait_is_too_long(self):
        with Script(UNAVAILABLE) as script:
            with self.assertRaises(ServiceUnavailableError):
                script.client.get_stats()
            self.assertEqual(len(script.requests), 6)
        with Script((503, {}, {"retry-after": "121"})) as script:
            with self.assertRaises(HoldfastError) as refused:
                script.client.get_stats()
            self.assertEqual((refused.exception.retry_after, len(script.requests)), (121, 1))

    def test_repeats_after_a_lost_answer_only_what_may_be_repeated(self):
        cases = [
            ("reading", lambda client: client.get_vault("0x1"), 6),
            ("creating, with a key", lambda client: client.create_vault(name="x"), 6),
            ("reading with POST", lambda client: client.list_vault_transactions("0x1").page(), 6),
            ("a POST without a key", lambda client: client.test_endpoint("whe_1"), 1),
            ("a change of a version", lambda client: client.update_asset("a", options={"if_match": '"1"'}), 1),
        ]
        for failure in (LOST, (502, "<html>", {}), (500, {}, {})):
            for name, call, sent in cases:
                with self.subTest(name, failure=failure), Script(failure) as script:
                    with self.assertRaises((HoldfastError, ConnectionFailed)):
                        call(script.client)
                    self.assertEqual(len(script.requests), sent)
        with Script(UNAVAILABLE, (200, {}, {})) as script:
            script.client.test_endpoint("whe_1")
            self.assertEqual(len(script.requests), 2)

    def test_does_not_repeat_what_was_refused_and_reads_any_answer(self):
        for answer in ((404, "<html>", {}), (409, {"errorCode": "newer_code", "message": 7}, {}), (422, "[]", {})):
            with Script(answer) as script:
                with self.assertRaises(HoldfastError) as refused:
                    script.client.create_vault(name="x")
                self.assertEqual((refused.exception.status, len(script.requests)), (answer[0], 1))

    def test_never_follows_a_redirect_with_the_key(self):
        with Script(VAULT) as other:
            for status in (301, 302, 307, 308):
                location = f"http://127.0.0.1:{other.server.server_port}/"
                with Script((status, {}, {"location": location})) as script:
                    with self.assertRaises(HoldfastError):
                        script.client.get_stats()
            self.assertEqual(other.requests, [])

    def test_sends_path_query_and_body_where_they_belong(self):
        with Script((200, {}, {})) as script:
            script.client.get_file_history("a/b?c", format="proof", proofs=True)
            script.client.update_endpoint("whe_1", description="ü", rate_limit=None)
            (_, path, headers, _), (_, _, _, body) = script.requests
            self.assertTrue(path.startswith("/api-v1/platform/files/a%2Fb%3Fc/history?"), path)
            self.assertIn("proofs=true", path)
            self.assertEqual(headers["x-api-key"], "k")
            self.assertEqual(json.loads(body), {"description": "ü", "rateLimit": None})
            self.assertNotIn("'k'", repr(vars(script.client)))

    def test_a_client_needs_an_address(self):
        for url in ("", "holdfast.example", "file:///etc/passwd"):
            with self.assertRaises(ValueError):
                Client(url)


class Secrets(unittest.TestCase):
    def test_a_webhook_needs_a_secret_of_an_endpoint(self):
        with self.assertRaises(ValueError):
            verify_webhook(b"{}", {}, "hook")


if __name__ == "__main__":
    unittest.main()
