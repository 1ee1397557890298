"""Webhooks that the service signed: HOLDFAST_DELIVERIES is a JSON file with them."""

import json
import os
import unittest

from holdfast_client import WebhookVerificationError, verify_webhook


def deliveries():
    with open(os.environ["HOLDFAST_DELIVERIES"], encoding="utf-8") as file:
        return json.load(file)


class Webhooks(unittest.TestCase):
    def test_are_read_by_either_signature(self):
        for one in deliveries()["good"]:
            body = one["body"].encode()
            for scheme in ("standard", "sha256"):
                event = verify_webhook(body, one["headers"], one["secret"], scheme=scheme, service_name="Acme")
                self.assertEqual(event, json.loads(body))

    def test_are_refused_when_changed_unsigned_or_old(self):
        good = deliveries()["good"][0]
        body, headers, secret = good["body"].encode(), good["headers"], good["secret"]
        other = deliveries()["otherSecret"]
        without = {name: value for name, value in headers.items() if name != "webhook-signature"}
        old = deliveries()["old"]
        refused = [
            (body + b" ", headers, secret),
            (body, headers, other),
            (body, {}, secret),
            (body, without, secret),
            (body, {**headers, "webhook-id": "evt_2"}, secret),
            (body, {**headers, "webhook-timestamp": "1"}, secret),
            (old["body"].encode(), old["headers"], secret),
        ]
        for case in refused:
            with self.assertRaises(WebhookVerificationError):
                verify_webhook(*case)
        for case in ((body + b" ", headers, secret), (body, {}, secret), (body, headers, other)):
            with self.assertRaises(WebhookVerificationError):
                verify_webhook(*case, scheme="sha256", service_name="Acme")
        verify_webhook(body, headers, [other, secret])
