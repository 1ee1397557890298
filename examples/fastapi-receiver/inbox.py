"""Events that have arrived, in a database: each id once, whatever arrives twice, at the same time, or after a crash.

SQLite stands for the database that you have; what matters are the unique key and the transaction.
"""

import json
import sqlite3
import threading

from holdfast_client import WebhookVerificationError, verify_webhook

SCHEMA = """
create table if not exists received_events (
  id          text primary key,
  received_at text not null default current_timestamp
);
create table if not exists jobs (
  event_id text primary key references received_events,
  event    text not null,
  done_at  text
);
"""
PAUSE_SECONDS = 5


def answer(inbox, secret, headers, body):
    """The status for a request. Anything but 2xx makes the service send the event again later."""
    try:
        event = verify_webhook(body, headers, secret)
    except WebhookVerificationError:
        return 401
    except ValueError:
        return 400
    inbox.store(event)
    return 204


class Inbox:
    def __init__(self, file, work):
        self._file = file
        self._work = work
        self._news = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        database = self._open()
        database.executescript("pragma journal_mode = wal;" + SCHEMA)
        database.close()

    def store(self, event):
        """Whether the event is new. Id and job are committed together, before the answer: neither is without the other."""
        database = self._open()
        try:
            with database:
                # The unique key decides, not a look before: two requests with one event may run at the same time.
                insert = "insert into received_events (id) values (?) on conflict do nothing"
                is_new = database.execute(insert, (event["id"],)).rowcount == 1
                if is_new:
                    job = (event["id"], json.dumps(event))
                    database.execute("insert into jobs (event_id, event) values (?, ?)", job)
        finally:
            database.close()
        self._news.set()
        return is_new

    def start(self):
        self._thread.start()

    def work_on(self):
        """Does the jobs that are open, one after the other."""
        database = self._open()
        try:
            select = "select event_id, event from jobs where done_at is null order by rowid limit 1"
            while job := database.execute(select).fetchone():
                self._work(json.loads(job[1]))
                with database:
                    done = "update jobs set done_at = current_timestamp where event_id = ?"
                    database.execute(done, (job[0],))
        finally:
            database.close()

    def _run(self):
        while True:
            self._news.clear()
            try:
                self.work_on()
                self._news.wait()
            except Exception as error:  # A job that fails stays, and is tried again.
                print("failed:", error, flush=True)
                self._news.wait(PAUSE_SECONDS)

    def _open(self):
        return sqlite3.connect(self._file, timeout=5)
