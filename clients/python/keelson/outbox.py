"""The durable outbox of one contributor in one study: a SQLite file.

Rows are in it before `send` goes on, and signed batches before they are sent. So nothing is lost
when the program is killed, and a sequence never gets other bytes.
"""
from __future__ import annotations

import json
import os
import sqlite3
from typing import Any, List, NamedTuple, Optional, Sequence, Tuple

from .errors import KeelsonError


class Item(NamedTuple):
    """Rows that are settled together. They are None once signed."""

    id: int
    last: bool
    rows: Optional[List[Any]]


class Batch(NamedTuple):
    """A signed batch that is not settled."""

    sequence: int
    item: int
    body: bytes
    signature: bytes


class Pin(NamedTuple):
    server_key: bytes
    study_id: bytes
    contributor: bytes


class Outbox:
    """`path`: a file, made if it is not there, for its owner only; ":memory:" keeps nothing."""

    def __init__(self, path: str) -> None:
        try:
            if path != ":memory:":
                os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
            self._db = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
            for line in (
                # Another process cannot open the file meanwhile.
                "PRAGMA locking_mode = EXCLUSIVE", "PRAGMA synchronous = FULL",
                # Rows that are settled leave the file and its journal.
                "PRAGMA secure_delete = ON", "PRAGMA journal_mode = TRUNCATE", "BEGIN IMMEDIATE",
                "CREATE TABLE IF NOT EXISTS pin(server BLOB, study BLOB, contributor BLOB)",
                "CREATE TABLE IF NOT EXISTS item(id INTEGER PRIMARY KEY, last INTEGER, rows TEXT)",
                "CREATE TABLE IF NOT EXISTS batch("
                "sequence INTEGER PRIMARY KEY, item INTEGER, body BLOB, signature BLOB)",
                "CREATE TABLE IF NOT EXISTS used(sequence INTEGER)",
                "COMMIT",
            ):
                self._db.execute(line)
        except (OSError, sqlite3.Error) as error:
            raise KeelsonError("outbox-failed", f"{path}: {error}") from error

    def pin(self) -> Optional[Pin]:
        row = self._db.execute("SELECT server, study, contributor FROM pin").fetchone()
        return None if row is None else Pin(*row)

    def set_pin(self, pin: Pin) -> None:
        self._write([("DELETE FROM pin", ()), ("INSERT INTO pin VALUES (?, ?, ?)", pin)])

    def keep(self, rows: List[Any], last: bool) -> Item:
        """Stores rows. Durable when it returns."""
        text = json.dumps(rows, allow_nan=False)
        self._write([("INSERT INTO item(last, rows) VALUES (?, ?)", (int(last), text))])
        number = self._db.execute("SELECT max(id) FROM item").fetchone()[0]
        return Item(number, last, rows)

    def sign(self, item: int, batches: Sequence[Batch], remove: Sequence[int] = ()) -> None:
        """Puts signed batches in the place of rows, or of batches under other sequences."""
        last = max([self.next_sequence() - 1, *(one.sequence for one in batches)])
        self._write([
            ("UPDATE item SET rows = NULL WHERE id = ?", (item,)),
            *[("DELETE FROM batch WHERE sequence = ?", (one,)) for one in remove],
            *[("INSERT INTO batch VALUES (?, ?, ?, ?)", one) for one in batches],
            ("DELETE FROM used", ()), ("INSERT INTO used VALUES (?)", (last,)),
        ])

    def next_sequence(self) -> int:
        """One more than the greatest that was ever signed here."""
        last: int = self._db.execute("SELECT coalesce(max(sequence), 0) FROM used").fetchone()[0]
        return last + 1

    def settle(self, sequence: int) -> None:
        self._write([("DELETE FROM batch WHERE sequence = ?", (sequence,))])

    def forget(self, item: int) -> None:
        """Removes rows that are settled as a whole."""
        self._write([
            ("DELETE FROM batch WHERE item = ?", (item,)),
            ("DELETE FROM item WHERE id = ?", (item,)),
        ])

    def items(self) -> List[Item]:
        rows = self._db.execute("SELECT id, last, rows FROM item ORDER BY id").fetchall()
        return [Item(id, bool(last), text and json.loads(text)) for id, last, text in rows]

    def batches(self) -> List[Batch]:
        rows = self._db.execute("SELECT * FROM batch ORDER BY sequence").fetchall()
        return [Batch(*row) for row in rows]

    def close(self) -> None:
        self._db.close()

    def _write(self, lines: Sequence[Tuple[str, Any]]) -> None:
        try:
            self._db.execute("BEGIN IMMEDIATE")
            for text, values in lines:
                self._db.execute(text, tuple(values))
            self._db.execute("COMMIT")
        except sqlite3.Error as error:
            raise KeelsonError("outbox-failed", str(error)) from error
