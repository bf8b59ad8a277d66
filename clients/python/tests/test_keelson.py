"""With clients/python on PYTHONPATH: python3 -m unittest discover -s clients/python/tests."""
import asyncio
import base64
import datetime
import http.server
import json
import logging
import math
import os
import re
import socket
import sqlite3
import struct
import tempfile
import threading
import unittest
from unittest import mock

from nacl.signing import SigningKey
from websockets.exceptions import ConnectionClosedError

from keelson import (
    AsyncContributor, AsyncOnceContributor, Contributor, KeelsonError, OnceContributor, Release,
    Number, choices_of, compare_groups, open_seed, subscribe, subscribe_async, verify_log,
)
from keelson import contributor, encryption
from keelson._wire import CODES, SCHEMA, Message, decode, encode, kind_of
from keelson.connection import Connection, Reach, socket_url
from keelson.numbers import names_of, stated_by
from keelson.outbox import Batch, Outbox
from keelson.releases import check_form, keys_of_value, numbers_of_value
from keelson.rows import checked_rows, contents_of, plain_rows, text_form
from keelson.signing import (
    NO_KEY, Signer, check_key, keys_of, message_of, sha512, study_id_of, verify,
)

VECTORS = os.path.join(os.path.dirname(__file__), "..", "..", "..", "test", "vectors")
BODIES = {
    "batch": "BatchBody", "typed-batch": "BatchBody", "text-batch": "BatchBody",
    "release": "ReleaseBody", "release-of-parts": "ReleaseBody",
    "release-with-findings": "ReleaseBody", "release-of-answers": "ReleaseBody",
    "head": "HeadBody",
}
ENUMS = {
    "data_type": [None, "float32", "float64"], "code": CODES,
    "state": [None, "open", "exhausted", "ended"],
}


def load(name):
    with open(os.path.join(VECTORS, name), encoding="utf-8") as file:
        return json.load(file)


class Vectors(unittest.TestCase):
    def test_signatures(self):
        file = load("signatures.json")
        for one in file["signed"]:
            issuer = one["label"] == "enrol"
            key = bytes.fromhex(file["issuerKey"] if issuer else file["serverKey"])
            no_study = one["label"] in ("enrol", "rotation")
            study = bytes(32) if no_study else bytes.fromhex(file["studyId"])
            contributor = bytes.fromhex(one["contributorKey"] or "00" * 32)
            payload = bytes.fromhex(one["payload"])
            message = message_of(one["label"], key, study, contributor, payload)
            self.assertEqual(message.hex(), one["message"], one["label"])
            signer = Signer(bytes.fromhex(file[one["signer"] + "Seed"]))
            signature = bytes.fromhex(one["signature"])
            verify(signer.public_key, message, signature)
            with self.assertRaises(KeelsonError):
                verify(signer.public_key, message[:-1] + bytes([message[-1] ^ 1]), signature)
            if one["label"] in ("hello", "batch", "withdraw"):
                payload = bytes.fromhex(one["payload"])
                self.assertEqual(signer.sign(one["label"], key, study, payload), signature)

    def test_messages(self):
        file = load("frames.json")
        named = [(BODIES[name], one) for name, one in file["bodies"].items()]
        named += [("ClientFrame", one) for one in file["clientFrames"].values()]
        named += [("ServerFrame", one) for one in file["serverFrames"].values()]
        named += [("Once", one) for one in file["once"].values()]
        for name, one in named:
            data = bytes.fromhex(one["bytes"])
            message = decode(name, data)
            expected = dict(one["message"])
            if name.endswith("Frame"):
                self.assertEqual(kind_of(message), expected.pop("kind"))
                self.compare(getattr(message, kind_of(message)), expected)
            else:
                self.compare(message, expected)
            if name in ("ClientFrame", "BatchBody", "Once"):
                self.assertEqual(encode(name, plain(message)), data)
            for wrong in (data + bytes.fromhex("fa0700"), data[:-1]):
                with self.assertRaises(KeelsonError):
                    decode(name, wrong)

    def compare(self, found, expected):
        """Bytes are hexadecimal in the vectors, large numbers are texts, and codes are names."""
        for camel, value in expected.items():
            name = re.sub("[A-Z]", lambda letter: "_" + letter.group().lower(), camel)
            if name not in found.__dict__:  # The vectors have outcomes and costs in other words.
                self.assertIn(name, ("outcome", "cost", "ledger", "answers"))
                continue
            ours = getattr(found, name)
            if name in ("outcome", "cost", "ledger", "answers") or value is None:
                continue
            for one, wanted in zip(ours, value) if isinstance(value, list) else [(ours, value)]:
                if isinstance(one, Message):
                    self.compare(one, wanted)
                elif name in ENUMS:
                    self.assertEqual(ENUMS[name][one], wanted)
                else:
                    plain = one.hex() if isinstance(one, bytes) else one
                    self.assertEqual(plain if plain == wanted else str(plain), wanted, name)
            if isinstance(value, list):
                self.assertEqual(len(ours), len(value), name)

    def test_findings(self):
        one = load("frames.json")["bodies"]["release-with-findings"]
        value = decode("ReleaseBody", bytes.fromhex(one["bytes"])).outcome.value
        expected = one["message"]["outcome"]
        self.assertEqual(value.spread, expected["spread"])
        self.assertEqual(value.radius_if_false, expected["radiusIfFalse95"])
        for name, low, high in (
            ("interval95", value.interval_low, value.interval_high),
            ("intervalIfFalse95", value.interval_if_false_low, value.interval_if_false_high),
        ):
            ends = expected[name]  # JSON has null for an infinite end.
            self.assertEqual(low, [-math.inf if end is None else end for end in ends["low"]])
            self.assertEqual(high, [math.inf if end is None else end for end in ends["high"]])
        findings = [{"reason": finding.reason, "columns": finding.columns, "amounts": finding.amounts}
                    for finding in value.findings]
        self.assertEqual(findings, expected["findings"])

    def test_answers(self):
        one = load("frames.json")["bodies"]["release-of-answers"]
        data = bytes.fromhex(one["bytes"])
        for answer, expected in zip(decode("ReleaseBody", data).answers, one["message"]["answers"]):
            self.assertEqual(answer.question, expected["question"])
            groups = expected["outcome"].get("groups", [])
            self.assertEqual(keys_of_value(answer.outcome.value), groups)
            answered = expected["outcome"].get("answered", [True] * len(groups))
            if groups:
                shown = numbers_of_value(answer.outcome.value)
                size = len(shown) // len(groups)
                self.assertEqual([number is not None for number in shown[::size]], answered)
        for number, text in ((6, b"x"), (7, b"x"), (9, bytes.fromhex("1200"))):
            with self.assertRaises(KeelsonError):  # An answer beside a list of answers.
                check_form(decode("ReleaseBody", data + bytes([number << 3 | 2, len(text)]) + text))
        for field, wrong in (
            ("answered", b"\xff"), ("answered", b"\x3f"), ("groups", ["a"] * 5), ("groups", []),
        ):
            release = decode("ReleaseBody", data)
            setattr(release.answers[1].outcome.value, field, wrong)
            with self.assertRaises(KeelsonError, msg=f"{field} {wrong!r}"):
                check_form(release)

    def test_rotations(self):
        one = load("frames.json")["serverFrames"]["welcomeAfterRotation"]
        welcome = decode("ServerFrame", bytes.fromhex(one["bytes"])).welcome
        keys = keys_of(welcome.server_key, welcome.rotations)
        self.assertEqual(len(keys), len(welcome.rotations) + 1)
        with self.assertRaises(KeelsonError):
            keys_of(welcome.server_key, [record[:-1] + b"\0" for record in welcome.rotations])

    def test_facts(self):
        file = load("frames.json")
        for name in ("facts", "typedFacts", "textFacts"):
            found = study_id_of(file[name].encode()).hex()
            self.assertEqual(found, file["studyId" if name == "facts" else name[:-5] + "StudyId"])

    def test_refused_keys(self):
        for keys in load("refused-keys.json").values():
            for key in keys:
                with self.assertRaises(KeelsonError):
                    check_key(bytes.fromhex(key))

    def test_logs(self):
        file = load("logs.json")
        for one in file["logs"]:
            data, key = one["log"].encode(), bytes.fromhex(file["serverKey"])
            if one["fault"] is None:
                verify_log(data, key)
            else:
                with self.assertRaises(KeelsonError, msg=one["name"]):
                    verify_log(data, key)

    def test_numbers(self):
        for one in load("numbers.json"):
            release = decode("ReleaseBody", bytes.fromhex(one["release"]))
            check_form(release)
            found = Release(0, 1, b"", b"", b"", release).numbers[release.estimator]
            groups = keys_of_value(release.outcome.value)
            self.assertEqual(len(found), len(one["names"]) * max(1, len(groups)))
            for at, number in enumerate(found):
                stated = one["stated"][at % len(one["names"])]
                self.assertEqual(number.name, one["names"][at % len(one["names"])], one["name"])
                self.assertEqual((number.value, number.low), (2 + at / 4, 1 + at / 4))
                given = {**number.facts, "kind": number.kind, "column": number.column,
                         "unit": number.unit, "least": number.least, "most": number.most}
                self.assertEqual({k: v for k, v in given.items() if v is not None}, stated)
                group = tuple(groups[at // len(one["names"])]) if groups else None
                self.assertEqual(number.group, group)
        (choice,) = [one for one in load("numbers.json") if one["name"] == "choice"]
        release = decode("ReleaseBody", bytes.fromhex(choice["release"]))
        (number,) = Release(0, 1, b"", b"", b"", release).numbers["select"]
        self.assertEqual(choices_of(number)[1], {"uniform": [0, 1]})

    def test_numbers_that_are_not_described(self):
        one = next(one for one in load("numbers.json") if one["name"] == "means of two columns")
        for field, runs in (
            ("kind", []), ("kind", [3, 2]), ("kind", [3, 6]), ("kind", [3, 0, 3, 4]), ("kind", [3]),
            ("kind", [0, 4]), ("column", [9, 4]), ("column", [4, 5]), ("column", [0, 5]),
            ("values", [math.inf]),
        ):
            release = decode("ReleaseBody", bytes.fromhex(one["release"]))
            setattr(release.outcome.value.numbers, field, runs)
            with self.assertRaises(KeelsonError, msg=f"{field} {runs}"):
                check_form(release)
        # A server of a version before the description states none.
        release.outcome.value.numbers = None
        check_form(release)
        value = release.outcome.value
        self.assertEqual(names_of(stated_by(value, [])), ["number 1 of 2", "number 2 of 2"])

    def test_table(self):
        (one,) = [one for one in load("numbers.json") if one["name"] == "contributors in groups"]
        release = decode("ReleaseBody", bytes.fromhex(one["release"]))
        lines = Release(0, 1, b"", b"", b"", release).table().split("\n")
        self.assertEqual(lines[0].split(), "question group name value 95 % interval".split())
        self.assertEqual(lines[3].split(), "count true, Z\u00fcrich contributors 2.5 1.5 to 3.5".split())
        self.assertEqual(Release(0, 1, b"", b"", b"", release).records()[2], {
            "epoch": 1, "question": "count", "group": "true, Z\u00fcrich", "name": "contributors",
            "value": 2.5, "low": 1.5, "high": 3.5, "unit": None})

    def test_open_ends(self):
        one = next(one for one in load("numbers.json") if one["name"] == "means of two columns")
        for ends, shown in (
            ((1, math.inf), "1 or more"), ((-math.inf, 5), "5 or less"),
            ((-math.inf, math.inf), "no interval"), ((1, 5), "1 to 5"),
        ):
            release = decode("ReleaseBody", bytes.fromhex(one["release"]))
            value = release.outcome.value
            value.interval_low, value.interval_high = [0, ends[0]], [9, ends[1]]
            read = Release(0, 1, b"", b"", b"", release)
            (numbers,) = read.numbers.values()
            self.assertEqual((numbers[1].low, numbers[1].high), ends)
            first, second = read.table().split("\n")[1:]
            self.assertIn("  0 to 9", first)
            self.assertIn(f"  {shown}", second)
            # The interval that false rows cannot break is the one of the answer.
            value.interval_if_false_low, value.interval_if_false_high = [-3, ends[0]], [12, ends[1]]
            (numbers,) = Release(0, 1, b"", b"", b"", release).numbers.values()
            self.assertEqual((numbers[0].low, numbers[0].high), (-3, 12))


class Groups(unittest.TestCase):
    """The cases of test/answers/intervals.test.ts."""

    @staticmethod
    def answer(kind, *ends):
        return [Number(kind, value, low, high, "people", None, None, kind, None, (group,), {})
                for group, value, low, high in ends]

    def test_counts(self):
        answer = self.answer("count", ("north", 520, 517, 523), ("south", 410, 407, 413),
                             ("east", 7, 3, 12), ("west", None, None, None))
        (found,) = compare_groups(answer, ["north"], ["south"])
        self.assertEqual((found.name, found.unit, found.difference, found.coverage),
                         ("count", "people", 110, 0.95))
        self.assertAlmostEqual(found.low, 110 - 3 * math.sqrt(2))
        self.assertAlmostEqual(found.high, 110 + 3 * math.sqrt(2))
        (found,) = compare_groups(answer, ["north"], ["east"])
        self.assertEqual((found.low, found.high, found.coverage), (505, 520, 0.9))
        (found,) = compare_groups(answer, ["west"], ["north"])
        self.assertEqual((found.difference, found.low, found.high), (None, -math.inf, math.inf))

    def test_means(self):
        answer = self.answer("mean", ("north", 520, 517, 523), ("south", 410, 407, math.inf))
        (found,) = compare_groups(answer, ["north"], ["south"])
        self.assertEqual((found.low, found.high, found.coverage), (-math.inf, 116, 0.9))

    def test_refused(self):
        answer = self.answer("count", ("north", 520, 517, 523))
        for given, text in (
            ((answer, ["north"], ["nort"]), "no group nort: its groups are north"),
            ((answer, "north", ["north"]), "a group is a list"),
            (([answer[0]._replace(group=None)], ["north"], ["south"]), "not split by groups"),
        ):
            with self.assertRaises(KeelsonError) as raised:
                compare_groups(*given)
            self.assertEqual(raised.exception.code, "invalid-parameter")
            self.assertIn(text, str(raised.exception))


def plain(message):
    """The fields of a message, those of inner ones too."""
    def one(value):
        if isinstance(value, list):
            return [one(inner) for inner in value]
        return plain(value) if hasattr(value, "__dict__") else value
    return {name: one(value) for name, value in message.__dict__.items()}


class Rows(unittest.TestCase):
    def test_form(self):
        facts = json.loads(load("frames.json")["textFacts"])
        given = [["maps", " Zu\u0308rich ", 3, True, "south"], ["mail"] + [None] * 4]
        rows = checked_rows(given, facts)
        self.assertEqual(rows[0][1], "Z\u00fcrich")
        cells = contents_of(rows, facts)["cells"]
        self.assertEqual(cells[0], {"codes": b"\1\0", "dictionary": b"\4mail\4maps"})
        self.assertEqual(cells[3], {"present": b"\1", "codes": b"\1"})

    def test_vectors(self):
        """The vectors have numbers of 32 bits, and this client sends 64."""
        file = load("frames.json")
        for name, rows in (
            ("typed", [[12.5, 3, True, "north"], [-4, 0, False, "other"]]),
            ("text", [["maps", "Z\u00fcrich", 3, True, "south"],
                      ["mail", "Z\u00fcrich", None, False, None], ["maps"] + [None] * 4]),
        ):
            cells = contents_of(rows, json.loads(file[name + "Facts"]))["cells"]
            body = decode("BatchBody", bytes.fromhex(file["bodies"][name + "-batch"]["bytes"]))
            for ours, theirs in zip(cells, body.cells):
                for field in ("present", "codes", "dictionary"):
                    self.assertEqual(ours.get(field, b""), getattr(theirs, field), name)
                numbers = ours.get("numbers", b"")
                wide = struct.unpack(f"<{len(numbers) // 8}d", numbers)
                self.assertEqual(struct.pack(f"<{len(wide)}f", *wide), theirs.numbers, name)

    def test_refused(self):
        facts = json.loads(load("frames.json")["typedFacts"])
        for row in (
            ["1", 3, True, "north"], [1, 2.5, True, "north"], [1, 2, 1, "north"],
            [1, 2, True, "east"], [1e20, 2, True, "north"], [-2**65, 2, True, "north"],
            [float("nan"), 2, True, "north"], [None, 2, True, "north"], [1, 2, True],
            [10**400, 2, True, "north"], [1, 2**53, True, "north"], [1, True, True, "north"],
        ):
            with self.assertRaises(KeelsonError):
                checked_rows([row], facts)
        self.assertEqual(checked_rows([[2**64, 2, True, "north"]], facts)[0][0], 2**64)
        for rows in ([], [[1], [1, 2]], 3, [1, 2]):
            with self.assertRaises(KeelsonError):
                plain_rows(rows)
        for text in ("", " ", "a\n", "a\u200eb", "\ue000", "\ufffe", "\U0001ffff", "a" * 65):
            with self.assertRaises(KeelsonError):
                text_form(text, 64, "a text")

    def test_texts_that_look_the_same(self):
        for each in load("texts.json"):
            for text in (each["written"], each["form"]):
                self.assertEqual(text_form(text, 64, "a text"), each["form"], each["what"])

    def test_by_name(self):
        import numpy
        facts = {"version": 2, "columns": [
            "minutes", {"name": "late", "type": "boolean"},
            {"name": "region", "type": "text", "bytes": 9, "optional": True}]}
        expected = [[3, True, "north"], [4.5, False, None]]
        records = [{"region": "north", "late": True, "minutes": 3},
                   {"minutes": numpy.float64(4.5), "late": numpy.bool_(False)}]
        table = {"region": ["north", None], "late": numpy.array([True, False]),
                 "minutes": numpy.array([3, 4.5])}
        kinds = [records, table]
        try:
            import pandas
            kinds.append(pandas.DataFrame({**table, "region": ["north", float("nan")]}))
        except ImportError:
            pass
        for rows in kinds:
            with tempfile.TemporaryDirectory() as folder:
                box = Outbox(os.path.join(folder, "outbox"))
                box.keep(plain_rows(rows), True)
                box.close()
                # They wait in the outbox until the client knows the columns of the study.
                (kept,) = Outbox(os.path.join(folder, "outbox")).items()
                self.assertEqual(checked_rows(kept.rows, facts), expected)
        for rows, said in (
            ([{"minutes": 3, "late": True, "regoin": "north"}], "no column regoin: it has minutes"),
            ([{"minutes": 3}], "row 0 has no value for the column late"),
        ):
            with self.assertRaisesRegex(KeelsonError, said):
                checked_rows(plain_rows(rows), facts)
        for rows, said in (
            ([{"minutes": float("nan")}], "minutes of row 0"), ({"a": [1], "b": []}, "lengths"),
            ([{"a": 1}, [1]], "every row"), ({}, "at least one row"),
        ):
            with self.assertRaisesRegex(KeelsonError, said):
                plain_rows(rows)

    def test_refused_before_they_are_kept(self):
        import numpy
        for value in (
            float("nan"), float("inf"), numpy.nan, numpy.float32("inf"), 10**5000, -2**65, b"a",
            datetime.date(2026, 1, 1), [1], {}, numpy.zeros(2), 1j,
        ):
            with self.assertRaises(KeelsonError) as caught:
                plain_rows([[1, 2], [1, value]])
            self.assertEqual(caught.exception.code, "invalid-rows")
            self.assertIn("column 1 of row 1", str(caught.exception))
        kept = plain_rows([[numpy.int64(3), True, None, "a", 2**64, numpy.float32(0.5)]])
        self.assertEqual(kept, [[3, True, None, "a", 2**64, 0.5]])


class Reaching(unittest.TestCase):
    """Where there is no server the client says so, and does not wait for ever."""

    def both(self, url, timeout):
        """How a contributor and a subscriber end, each the same way, and what they log."""
        async def contribute():
            async with AsyncContributor(url, "s", bytes(32), timeout=timeout) as contributor:
                await contributor.contribute([[1.5]])

        async def read():
            async for _ in subscribe_async(url, "s", timeout=timeout):
                pass

        found = []
        for work in (contribute, read):
            with self.assertRaises(KeelsonError) as caught:
                with self.assertLogs("keelson", logging.WARNING) as said:
                    logging.getLogger("keelson").warning("the test begins")
                    asyncio.run(work())
            found.append((caught.exception, said.output[1:]))
        self.assertEqual(str(found[0][0]), str(found[1][0]))
        return found[1]

    def test_urls(self):
        for url, wanted in {
            "ws://a:1/b": "ws://a:1/b", "http://a:1": "ws://a:1", "https://a/b?c": "wss://a/b?c",
            "ws://[::1]:8787": "ws://[::1]:8787", "WSS://a": "wss://a",
        }.items():
            self.assertEqual(socket_url(url), wanted)
        for url in ("", "a", "127.0.0.1:8787", "localhost:8787", "ftp://a", "ws://", "ws:a",
                    "ws://a:99999", "ws://a:b", "ws://a#b", None, b"ws://a"):
            with self.assertRaises(KeelsonError) as caught:
                Contributor(url, "s", bytes(32))
            self.assertEqual(caught.exception.code, "invalid-parameter", url)
            with self.assertRaises(KeelsonError):
                next(subscribe(url, "s"))
        for timeout in (0, -1, float("nan")):
            with self.assertRaises(KeelsonError):
                Reach("ws://a", timeout)

    def test_dead_port(self):
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", 0))  # Nobody listens there.
            error, said = self.both(f"ws://127.0.0.1:{taken.getsockname()[1]}", 0.2)
        self.assertEqual(error.code, "transport-failed")
        self.assertIn("was not reached within 0.2 s", str(error))
        self.assertIn("Connect call failed", str(error))
        self.assertIn("that the server runs", str(error))
        self.assertRegex(said[0], "^WARNING:keelson:no connection to ws://127.*tried again")
        self.assertLess(len(said), 4)

    def test_silent_port(self):
        with socket.create_server(("127.0.0.1", 0)) as silent:
            error, _ = self.both(f"http://127.0.0.1:{silent.getsockname()[1]}", 0.2)
        self.assertEqual(error.code, "transport-failed")
        self.assertIn("no answer", str(error))

    def test_port_without_tls(self):
        def serve(plain):
            for _ in range(2):
                one, _address = plain.accept()
                with one:
                    one.recv(1)
                    one.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")

        with socket.create_server(("127.0.0.1", 0)) as plain:
            thread = threading.Thread(target=serve, args=(plain,), daemon=True)
            thread.start()
            error, said = self.both(f"wss://a:secret@127.0.0.1:{plain.getsockname()[1]}", 3600)
            thread.join()
        self.assertEqual((error.code, said), ("transport-failed", []))
        self.assertIn("does not speak TLS: write ws://", str(error))
        self.assertNotIn("secret", str(error))

    def test_no_limit_once_reached(self):
        async def lose():
            reach = Reach("ws://a", 1e-6)
            reach.begin()
            reach.succeeded()
            await reach.failed(EOFError("lost"))

        with self.assertLogs("keelson", logging.WARNING) as said:
            asyncio.run(lose())
        self.assertIn("lost", said.output[0])

    def test_lost_before_it_is_closed(self):
        class Gone:
            async def recv(self):
                raise EOFError("lost")

            async def close(self):
                raise ConnectionClosedError(None, None)

        attempts = []

        async def greet(self):
            attempts.append(self)
            if len(attempts) > 1:
                raise KeelsonError("unknown-study", "it is tried again")
            connection = Connection.__new__(Connection)
            connection.socket = Gone()
            return connection, None, None

        async def begin(self, connection, _ready, _study):
            self._connection = connection

        async def send():
            contributor = AsyncContributor("ws://a", "s", bytes(32))
            contributor.start()
            await asyncio.wait_for(contributor.send([[1.5]]), 10)

        with mock.patch.multiple(AsyncContributor, _greet=greet, _begin=begin):
            with self.assertLogs("keelson", logging.WARNING):
                with self.assertRaisesRegex(KeelsonError, "it is tried again"):
                    asyncio.run(send())

    def test_digits_for_bytes(self):
        digits = "0a" * 32
        for call in (
            lambda: Contributor("ws://a", "s", bytes(32), server_key=digits),
            lambda: next(subscribe("ws://a", "s", server_key=digits)),
            lambda: next(subscribe("ws://a", "s", start=1, previous_digest=digits * 2)),
            lambda: AsyncContributor("ws://a", "s", digits),
            lambda: AsyncContributor("ws://a", "s", bytes(32), enrolment=digits),
            lambda: verify_log(b"{}\n", digits),
        ):
            with self.assertRaises(KeelsonError) as caught:
                call()
            self.assertEqual(caught.exception.code, "invalid-key")
            self.assertIn("not as str: bytes.fromhex", str(caught.exception))


class Files(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def test_outbox(self):
        path = os.path.join(self.folder.name, "outbox")
        outbox = Outbox(path)
        first, second = outbox.keep([[1.5, 2]], True), outbox.keep([["a", None]], False)
        outbox.sign(first.id, [Batch(1, first.id, b"body", b"sig"), Batch(2, first.id, b"b", b"s")])
        with self.assertRaises(KeelsonError):
            sqlite_wait(lambda: Outbox(path))
        outbox.close()
        outbox = Outbox(path)
        self.assertEqual([one.rows for one in outbox.items()], [None, [["a", None]]])
        self.assertEqual([one.sequence for one in outbox.batches()], [1, 2])
        outbox.settle(1)
        outbox.forget(first.id)
        self.assertEqual(outbox.batches(), [])
        self.assertEqual([one.id for one in outbox.items()], [second.id])
        third = outbox.keep([["a row in clear"]], False)
        outbox.forget(third.id)
        for name in os.listdir(self.folder.name):
            with open(os.path.join(self.folder.name, name), "rb") as file:
                self.assertFalse(b"a row in clear" in file.read(), name)
        outbox.close()
        self.assertEqual(os.stat(path).st_mode & 0o077, 0)

    def test_seed(self):
        path = os.path.join(self.folder.name, "key")
        self.assertEqual(open_seed(path), open_seed(path))
        os.chmod(path, 0o644)
        with self.assertRaises(KeelsonError):
            open_seed(path)


class OnceServer:
    """A server of one study that answers each batch with the next of `script`: a status with its
    headers, the fields of a frame, or a verdict. The last answer is repeated. It keeps what it was
    sent."""

    def __init__(self, *script, facts=None, epochs=(7,)):
        self.key = SigningKey(bytes([3]) * 32)
        self.facts = (facts or load("frames.json")["facts"]).encode()
        self.script, self.epochs, self.sent = list(script), list(epochs), []
        server = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                self.answer(200, json.dumps({
                    "welcome": base64.b64encode(server.welcome()).decode()}).encode())

            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"] or 0))
                if self.path == "/v1/batches":
                    frame = server.welcome()
                    size = bytes([len(frame) & 127 | 128, len(frame) >> 7])
                    return self.answer(200, size + frame)
                server.sent.append(body)
                said = server.script.pop(0) if len(server.script) > 1 else server.script[0]
                if isinstance(said, dict):
                    self.answer(200, encode("ServerFrame", said))
                elif callable(said):
                    (*_, body) = server.bodies()
                    self.answer(200, encode("ServerFrame", {"ack": said(body.sequence)}))
                elif said is None:
                    self.close_connection = True
                else:
                    self.answer(said, b'{"error":{"code":"a-code","text":"said"}}')

            def answer(self, status, body):
                self.send_response(status)
                self.send_header("Retry-After", "0")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_):
                pass

        self._http = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._http.serve_forever, daemon=True)
        self._thread.start()
        self.url = f"ws://127.0.0.1:{self._http.server_port}"

    def welcome(self):
        key, study_id = bytes(self.key.verify_key), study_id_of(self.facts)
        message = message_of("study", key, study_id, NO_KEY, sha512(self.facts))
        epoch = self.epochs.pop(0) if len(self.epochs) > 1 else self.epochs[0]
        return encode("ServerFrame", {"welcome": {
            "server_key": key, "server_nonce": bytes(32),
            "limits": {"frame_bytes": 4096, "rows_per_batch": 64, "credit_batches": 1,
                       "channels_per_socket": 1, "sequence_window": 64},
            "studies": [{
                "facts": self.facts, "signature": bytes(self.key.sign(message).signature),
                "state": 1, "epoch": epoch}]}})

    def bodies(self):
        return [decode("BatchBody", decode("Once", one).body) for one in self.sent]

    def close(self):
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()


def accepted(epoch=7):
    return lambda sequence: {"accepted": [sequence], "epoch": epoch}


def rejected(code, epoch=7, retryable=False):
    return lambda sequence: {"epoch": epoch, "rejections": [
        {"sequence": sequence, "code": CODES.index(code), "retryable": retryable}]}


class Once(unittest.TestCase):
    """A contributor without a connection, at a server that answers as it is told."""

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        # Answers that are no verdict are said, and the request goes again.
        logging.getLogger("keelson").setLevel(logging.CRITICAL)
        self.addCleanup(logging.getLogger("keelson").setLevel, logging.NOTSET)

    def server(self, *script, **more):
        server = OnceServer(*script, **more)
        self.addCleanup(server.close)
        return server

    def contribute(self, server, outbox=None, study="flight-delays", **more):
        with OnceContributor(server.url, study, bytes(32), outbox, **more) as contributor:
            return contributor.contribute([[1.5, 2]])

    def test_signed_for_this_server(self):
        server = self.server(accepted())
        self.assertTrue(self.contribute(server, enrolment=b"a token").accepted)
        (one,), (body,) = [decode("Once", one) for one in server.sent], server.bodies()
        self.assertEqual(one.public_key, Signer(bytes(32)).public_key)
        self.assertEqual(one.enrolment, b"a token")
        verify(one.public_key, message_of(
            "batch", bytes(server.key.verify_key), study_id_of(server.facts), one.public_key,
            sha512(one.body)), one.signature)
        self.assertEqual((body.sequence, body.epoch, body.last, body.rows), (1, 7, True, 1))

    def test_the_id_of_a_study_needs_no_upload(self):
        server = self.server(accepted())
        study = study_id_of(server.facts).hex()
        self.assertTrue(self.contribute(server, study=study.upper()).accepted)

    def test_the_same_bytes_until_there_is_a_verdict(self):
        late = rejected("overloaded", retryable=True)
        server = self.server(503, None, 429, late, accepted())
        self.assertTrue(self.contribute(server).accepted)
        self.assertEqual([one == server.sent[0] for one in server.sent], [True] * 5)

    def test_stale_epoch_takes_the_next_number(self):
        server = self.server(rejected("stale-epoch", epoch=8), accepted(epoch=8))
        self.assertEqual(self.contribute(server).epoch, 8)
        self.assertEqual([(one.sequence, one.epoch) for one in server.bodies()], [(1, 7), (2, 8)])

    def test_stale_epoch_while_none_is_open(self):
        stale = rejected("stale-epoch", epoch=0)
        server = self.server(
            stale, stale, rejected("stale-epoch", epoch=9), accepted(epoch=9))
        self.assertTrue(self.contribute(server).accepted)
        self.assertEqual(
            [(one.sequence, one.epoch) for one in server.bodies()], [(1, 7)] * 3 + [(2, 9)])

    def test_asks_for_the_epoch_while_none_is_open(self):
        server = self.server(accepted(epoch=8), epochs=[0, 0, 0, 8])
        self.assertTrue(self.contribute(server).accepted)
        self.assertEqual([one.epoch for one in server.bodies()], [8])

    def test_keeps_the_sequence(self):
        path = os.path.join(self.folder.name, "outbox")
        server = self.server(
            accepted(), accepted(), rejected("stale-epoch", epoch=8), accepted(epoch=8),
            accepted(epoch=8))
        for _ in range(4):
            self.assertTrue(self.contribute(server, path).accepted)
        self.assertEqual([one.sequence for one in server.bodies()], [1, 2, 3, 4, 5])

    def test_an_outbox_sends_the_same_bytes_in_the_next_run(self):
        path = os.path.join(self.folder.name, "outbox")
        server = self.server(400, accepted())
        with self.assertRaises(KeelsonError) as caught:
            self.contribute(server, path)
        self.assertEqual((caught.exception.code, caught.exception.text), ("a-code", "said"))
        recovered = []

        async def again():
            async with AsyncOnceContributor(
                    server.url, "flight-delays", bytes(32), path, on_recovered=recovered.append):
                pass

        asyncio.run(again())
        self.assertEqual([one.code for one in recovered], ["accepted"])
        self.assertEqual(server.sent[0], server.sent[1])

    def test_without_storage_a_key_begins_anew(self):
        """So it is for one run: what a server settled before is not counted again."""
        server = self.server(
            accepted(), rejected("mutated"), rejected("not-counted"))
        self.assertTrue(self.contribute(server).accepted)
        self.assertEqual(self.contribute(server).code, "not-counted")
        self.assertEqual([one.sequence for one in server.bodies()], [1, 1, 2])

    def test_refusals(self):
        for said, code in (
            ({"refusal": {"code": CODES.index("not-enrolled"), "text": b"a text"}}, "not-enrolled"),
            ({"refusal": {"code": CODES.index("bad-signature")}}, "bad-signature"),
            (404, "unsupported"), (405, "unsupported"), (413, "a-code"),
        ):
            server = self.server(said)
            with self.assertRaises(KeelsonError) as caught:
                self.contribute(server)
            self.assertEqual(caught.exception.code, code)
            self.assertEqual(len(server.sent), 1)
        server = self.server(rejected("not-counted"))
        self.assertEqual(self.contribute(server).code, "not-counted")

    def test_sealed_studies(self):
        facts = json.dumps({**json.loads(load("frames.json")["facts"]), "sealed": {}})
        server = self.server(accepted(), facts=facts)
        with self.assertRaises(KeelsonError) as caught:
            self.contribute(server)
        self.assertEqual(caught.exception.code, "unsupported")
        self.assertIn("the study is sealed", str(caught.exception))
        self.assertEqual(server.sent, [])

    def test_another_server(self):
        server = self.server(accepted())
        with self.assertRaises(KeelsonError) as caught:
            self.contribute(server, server_key=Signer(bytes(32)).public_key)
        self.assertEqual(caught.exception.code, "server-key-mismatch")
        self.assertEqual(server.sent, [])

    def test_takes_nothing_back(self):
        server = self.server(accepted())
        with OnceContributor(server.url, "flight-delays", bytes(32)) as contributor:
            with self.assertRaises(KeelsonError) as caught:
                contributor.withdraw()
        self.assertEqual(caught.exception.code, "unsupported")

    def test_where_nobody_answers(self):
        with socket.create_server(("127.0.0.1", 0)) as silent:
            with self.assertRaises(KeelsonError) as caught:
                with OnceContributor(
                        f"http://127.0.0.1:{silent.getsockname()[1]}", "s", bytes(32),
                        timeout=0.2) as contributor:
                    contributor.contribute([[1, 2]])
        self.assertEqual(caught.exception.code, "transport-failed")


def sqlite_wait(open_it):
    """Opens a file that is locked: without the usual wait of sqlite3."""
    connect = sqlite3.connect
    sqlite3.connect = lambda *words, **more: connect(*words, timeout=0, **more)
    try:
        return open_it()
    finally:
        sqlite3.connect = connect


class EncryptedChannels(unittest.TestCase):
    def setUp(self):
        if not encryption.CAN_ENCRYPT:
            self.skipTest("the package cryptography is missing")
        self.file = load("channel-keys.json")

    def bytes(self, name):
        return bytes.fromhex(self.file[name])

    def opening(self):
        signer = Signer(bytes(range(0x20, 0x40)))
        return encryption.new_opening(
            signer, self.bytes("serverKey"), self.bytes("studyId"), self.bytes("serverNonce"),
            self.bytes("share"), self.bytes("clientSecret"))

    def test_keys_of_vectors(self):
        opening = self.opening()
        self.assertEqual(opening.client_share, self.bytes("clientShare"))
        self.assertEqual(opening.signature, self.bytes("signature"))
        self.assertEqual(opening.cipher.up, self.bytes("up"))
        self.assertEqual(opening.cipher.down, self.bytes("down"))
        agreed = encryption.agree(self.bytes("clientSecret"), self.bytes("share"))
        self.assertEqual(agreed, self.bytes("agreed"))

    def test_frames_of_vectors(self):
        cipher = self.opening().cipher
        for one in self.file["fromContributor"]:
            body = bytes.fromhex(one["plain"])[64:]
            self.assertEqual(cipher.seal(body).hex(), one["sealed"])
        for one in self.file["fromServer"]:
            sealed = bytes.fromhex(one["sealed"])
            self.assertEqual(cipher.open(one["kind"], sealed).hex(), one["plain"])
        far = self.file["farFrame"]
        cipher._sent = far["number"]
        self.assertEqual(cipher.seal(bytes.fromhex(far["plain"])[64:]).hex(), far["sealed"])

    def test_frames_that_do_not_open(self):
        sealed = bytes.fromhex(self.file["fromServer"][0]["sealed"])
        for kind, data in (
            (encryption.ACK, sealed), (encryption.OPENED, sealed[:-1]), (encryption.OPENED, b""),
            (encryption.OPENED, sealed[:-1] + bytes([sealed[-1] ^ 1])),
        ):
            with self.assertRaises(encryption.Between):
                self.opening().cipher.open(kind, data)
        cipher = self.opening().cipher
        cipher.open(encryption.OPENED, sealed)
        with self.assertRaises(encryption.Between):  # The same once more is another number.
            cipher.open(encryption.OPENED, sealed)

    def test_each_opening_has_a_share_of_its_own(self):
        shares = {encryption.new_opening(
            Signer(bytes(32)), self.bytes("serverKey"), bytes(32), bytes(32),
            self.bytes("share")).client_share for _ in range(3)}
        self.assertEqual(len(shares), 3)

    def stated(self, **change):
        return Message(**{
            "share": self.bytes("share"), "issued_ms": self.file["issuedMs"],
            "until_ms": self.file["untilMs"], "signature": self.bytes("shareSignature"), **change})

    def test_shares_that_are_taken(self):
        key, until = self.bytes("serverKey"), self.file["untilMs"]
        day = 24 * 3_600_000
        taken = encryption.taken_share
        self.assertEqual(taken(key, self.stated(), until + day), self.bytes("share"))
        self.assertIsNone(taken(key, self.stated(), until + day + 1))
        self.assertIsNone(taken(key, None, 0))
        for change in ({"until_ms": until + 1}, {"issued_ms": 0}, {"share": bytes(32)}):
            with self.assertRaises(KeelsonError) as caught:
                taken(key, self.stated(**change), 0)
            self.assertEqual(caught.exception.code, "bad-signature")

    def test_shares_of_small_order(self):
        signing = SigningKey(bytes(32))
        key = bytes(signing.verify_key)
        for point in (bytes(32), bytes([1]) + bytes(31), bytes.fromhex("ec" + "ff" * 30 + "7f")):
            times = bytes(16)
            message = message_of("share", key, bytes(32), NO_KEY, sha512(point + times))
            stated = self.stated(
                share=point, issued_ms=0, until_ms=0,
                signature=bytes(signing.sign(message).signature))
            with self.assertRaises(KeelsonError) as caught:
                encryption.taken_share(key, stated, 0)
            self.assertEqual(caught.exception.code, "malformed")

    def test_without_the_package(self):
        contributor.CAN_ENCRYPT, contributor.is_lack_told = False, False
        try:
            with self.assertRaises(KeelsonError) as caught:
                Contributor("ws://a", "s", bytes(32), encrypted_only=True)
            self.assertEqual(caught.exception.code, "invalid-parameter")
            self.assertIn("python3-cryptography", str(caught.exception))
            with self.assertLogs("keelson", logging.WARNING) as said:
                for _ in range(3):
                    contributor.tell_lack()
            self.assertEqual(len(said.output), 1)
        finally:
            contributor.CAN_ENCRYPT = True

    def test_once_is_not_encrypted(self):
        with self.assertRaises(KeelsonError) as caught:
            with OnceContributor(
                    "ws://127.0.0.1:1", "s", bytes(32), encrypted_only=True) as contributor:
                contributor.contribute([[1.5]])
        self.assertEqual(caught.exception.code, "unsupported")


class Schema(unittest.TestCase):
    def test_fields(self):
        """The table of fields says what wire.proto says."""
        path = os.path.join(VECTORS, "..", "..", "proto", "keelson", "v1", "wire.proto")
        message, found = None, {}
        with open(path, encoding="utf-8") as file:
            for line in file:
                words = line.split()
                if words[:1] == ["message"]:
                    message = found.setdefault(words[1], [])
                elif words[:1] == ["enum"]:
                    message = None
                elif message is not None and "=" in words[:5] and words[0] != "oneof":
                    at = words.index("=")
                    number = int(words[at + 1].rstrip(";"))
                    message.append((number, words[at - 1], words[0] == "repeated"))
        ours = {name: [(number, field, kind.endswith("*")) for number, field, kind, _ in fields]
                for name, fields in SCHEMA.items()}
        theirs = {name: sorted(fields) for name, fields in found.items()}
        # The messages between servers of a sealed study begin with PeerFrame.
        names = list(theirs)
        clients = set(names[:names.index("PeerFrame")])
        self.assertEqual({name: theirs[name] for name in clients}, ours)


if __name__ == "__main__":
    unittest.main()
