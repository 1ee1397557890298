"""Calls each operation of a file of cases, and prints the status and the message that each came to, for a test that walks all of them."""

import json
import sys

from holdfast_client import Client, Download, HoldfastError, Pages


def main() -> None:
    with open(sys.argv[1], encoding="utf-8") as file:
        cases = json.load(file)
    outcomes = {}
    for case in cases["calls"]:
        client = Client(cases["url"], case["key"], headers=case["headers"], retries=0)
        try:
            call(client, case["name"], case["arguments"])
            outcomes[case["name"]] = {"status": 200, "message": ""}
        except HoldfastError as error:
            outcomes[case["name"]] = {"status": error.status, "message": str(error)}
    print(json.dumps(outcomes))


def call(client: Client, name: str, arguments: dict) -> None:
    if name == "stream_events":
        # The feed has what happened before; the stream needs something new.
        vault = client.create_vault(name="Stream")["address"]
        cursor = client.list_events(limit=1).page().next_cursor
        client.deactivate_vault(vault)
        next(client.stream_events(cursor=cursor))
        return
    result = getattr(client, name)(**arguments)
    if isinstance(result, Pages):
        result.page()
    elif isinstance(result, Download):
        with result:
            result.read()


if __name__ == "__main__":
    main()
