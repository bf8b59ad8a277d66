import os
import sys
import unittest
from unittest import mock

import numpy

import keelson

ROOT = os.path.join(os.path.dirname(__file__), "..", "..", "..")
COMMAND = f"node {os.path.join(ROOT, 'bin', 'keelson.js')}"

try:
    import pandas
except ImportError:
    pandas = None
    print("pandas is not tested. To test: apt-get install python3-pandas", file=sys.stderr)


try:
    import polars
    import pyarrow
except ImportError:
    polars = pyarrow = None
    print("pyarrow and polars are not tested. To test: pip install pyarrow polars", file=sys.stderr)


class ArrowTable:
    column_names = ["minutes"]

    def column(self, name):
        return mock.Mock(spec=["to_pylist"], to_pylist=lambda: [1.0, None, 3.5] * 200)


@mock.patch.dict(os.environ, {"KEELSON_COMMAND": COMMAND, "NODE_NO_WARNINGS": "1"})
class Analysis(unittest.TestCase):
    asked = {"epsilon": 5.0, "participation": "public", "parameters": {"range": "0..10"}}

    def test_kinds_of_tables(self):
        minutes = [1.234, float("nan"), 3.5] * 200
        tables = {
            "numpy": numpy.array([[value] for value in minutes]),
            "mapping": {"minutes": minutes},
            "rows": [[value] for value in minutes],
            "pyarrow": ArrowTable(),
        }
        if pandas is not None:
            tables["pandas"] = pandas.DataFrame({"minutes": minutes})
        for name, table in tables.items():
            with self.subTest(name):
                answer = keelson.estimate(table, "mean", **self.asked)
                self.assertEqual(answer.kind, "value")
                self.assertAlmostEqual(answer.estimate[0], 2.3, delta=0.5)
                self.assertLess(answer.low[0], answer.high[0])

    @unittest.skipIf(pyarrow is None or pandas is None, "pyarrow and pandas are needed")
    def test_arrow_and_text_give_the_same_answers(self):
        rows = 600
        days = ["2026-01-%02d" % (1 + place % 20) for place in range(rows)]
        table = {
            "minutes": [float("nan") if place % 7 == 0 else 20 + place % 31 for place in range(rows)],
            "late": [place % 3 == 0 for place in range(rows)],
            "region": [("north", "south", "")[place % 3] for place in range(rows)],
            "kind": [place % 3 for place in range(rows)],
            "id": [place // 2 for place in range(rows)],
        }
        frame = pandas.DataFrame({**table, "day": pandas.to_datetime(days)})
        kinds = {
            "pandas": frame, "polars": polars.DataFrame({**table, "day": days}),
            "pyarrow": pyarrow.table({**table, "day": days}), "mapping": {**table, "day": days},
            "numpy": {name: numpy.array(values) for name, values in table.items()},
        }
        public = {"participation": "public", "columns": ["minutes"],
                  "parameters": {"range": "0..60"}}
        secret = {"participation": "secret", "cohort": rows}
        asked = [
            ("mean", public), ("mean", {**public, "contributor": "id"}),
            ("mean", {**public, "group_by": "region", "groups": ["north", "south"]}),
            ("mean", {**public, "group_by": "kind", "groups": ["0", "1"]}),
            ("share", {"columns": ["late"], "types": {"late": "boolean"},
                       "participation": "public"}),
            ("count", {**secret, "where": ["minutes>=30", "late=true"],
                       "types": {"late": "boolean"}}),
            ("count", {**secret, "where": ["region=north"], "types": {"region": "text"}}),
            ("count", {**secret, "where": ["day>=2026-01-11"], "types": {"day": "time"},
                       "zone": "UTC"}),
        ]
        with mock.patch.dict(os.environ, {"KEELSON_INSECURE_SEED": "same"}):
            for place, (estimator, words) in enumerate(asked):
                # Each kind of table has its turn. Arrays of numpy have no days here.
                kind = list(kinds)[place % len(kinds)]
                kind = "pandas" if "day" in words.get("types", {}) else kind
                with self.subTest(estimator=estimator, words=words, kind=kind):
                    fast = keelson.estimate(kinds[kind], estimator, epsilon=1, **words)
                    with mock.patch.dict(sys.modules, {"pyarrow": None}):
                        slow = keelson.estimate(frame, estimator, epsilon=1, **words)
                    self.assertEqual(fast.facts, slow.facts)
                    self.assertEqual(fast.kind, "value")

    def test_people_and_columns(self):
        table = {"id": [place // 2 for place in range(600)], "name": ["a,\"b\""] * 600,
                 "minutes": [4] * 600}
        answer = keelson.estimate(table, "mean", columns=["minutes"], contributor="id",
                                  **self.asked)
        self.assertEqual(answer.names, ["minutes"])
        self.assertEqual(answer.facts["rows"], 300)
        with self.assertRaisesRegex(keelson.KeelsonError, "no column hours"):
            keelson.estimate(table, "mean", columns=["hours"], **self.asked)

    table = {"region": ["north", "south", "south"] * 400, "late": [True, False] * 600,
             "minutes": [20.0, 40.0, 40.5] * 400}

    def test_groups(self):
        shared = {"columns": ["minutes"], "group_by": "region", "groups": ["north", "south", "x"],
                  "parameters": {"range": "0..60"}, "epsilon": 2}
        public = keelson.estimate(self.table, "mean", participation="public", **shared)
        secret = keelson.estimate(self.table, "mean", participation="secret", cohort=1200,
                                  groups_max=1, **shared)
        for answer in (public, secret):
            self.assertEqual(answer.names, ["north", "south", "x"])
            self.assertAlmostEqual(answer.estimate[0], 20, delta=2)
            self.assertAlmostEqual(answer.estimate[1], 40.25, delta=2)
            self.assertLess(answer.low[1], answer.high[1])
            ends = (answer.low[2], answer.estimate[2], answer.high[2])
            self.assertEqual(ends, (None, None, None))
            self.assertEqual(answer.records()[0], {
                "name": "north", "estimate": answer.estimate[0], "low": answer.low[0],
                "high": answer.high[0]})
        found = keelson.estimate(self.table, "count", epsilon=2, participation="secret",
                                 cohort=1200, group_by="region", groups="discover", groups_max=1)
        self.assertEqual(sorted(found.names), ["north", "south"])

    def test_rows_that_count(self):
        asked = {"epsilon": 2, "participation": "secret", "cohort": 1200}
        some = keelson.estimate(self.table, "count", where=["minutes>=40", "late=true"],
                                types={"late": "boolean"}, **asked)
        self.assertAlmostEqual(some.estimate[0], 400, delta=20)
        with keelson.Session(self.table, 2, participation="secret", cohort=1200) as session:
            paid = session.estimate("count", epsilon=2, where=["minutes<30"])
            self.assertAlmostEqual(paid.estimate[0], 400, delta=20)
            spent = session.estimate("count", epsilon=2, where=["minutes<30"])
            self.assertEqual((spent.kind, spent.estimate, spent.low), ("infeasible", [], []))

    def test_plan_and_choose(self):
        asked = {"epsilon": 1, "participation": "secret", "cohort": 3000}
        count = keelson.plan("count", columns=0, **asked)
        self.assertEqual((count.kind, count.estimator), ("plan", "count"))
        self.assertLess(count.error * 3000, 1.5)
        self.assertIn("cohort", count.unit)
        few = keelson.plan("robust-mean", columns=["a", "b"], corruption=0.1,
                           **{**asked, "cohort": 300})
        self.assertEqual((few.kind, few.error), ("infeasible", None))
        self.assertGreater(few.least_cohort, 300)
        self.assertIn("cohort of", few.reason)
        chosen = keelson.choose("mean", columns=["minutes"], **asked)
        self.assertEqual(chosen.estimator, "robust-mean")
        self.assertTrue(chosen.why)
        self.assertGreater(chosen.error_if_false, chosen.error)

    def test_session(self):
        with keelson.Session({"x": [1.0] * 500}, 2, participation="public") as session:
            answer = session.estimate("count", epsilon=1)
            self.assertIn("of 2 is spent", repr(answer))
            self.assertIn("<table>", answer._repr_html_())
            refused = session.estimate("count", epsilon=2)
            self.assertEqual(refused.kind, "infeasible")
            self.assertIn("or less", refused.reason)
            self.assertIn("infeasible", repr(refused))
            self.assertEqual(session.state["answers"], 1)
            path = session._ledger
        self.assertFalse(os.path.exists(path))

    def test_advice_is_logged_and_in_no_answer(self):
        table = {"id": [place // 2 for place in range(600)], "minutes": [4] * 600}
        with self.assertLogs("keelson", "INFO") as logs:
            answer = keelson.estimate(table, "mean", columns=["minutes"],
                                      parameters={"range": "0..10"}, epsilon=1,
                                      participation="secret", cohort=600)
            keelson.analysis._log.info("end")
        self.assertNotIn("person", repr(answer) + answer._repr_html_())
        self.assertTrue(logs.output)

    def test_errors(self):
        with self.assertRaisesRegex(keelson.KeelsonError, "invalid-parameter.*epsilon"):
            keelson.estimate([[1.0]], "mean", epsilon=-1, participation="public")
        for uneven in ({"x": [1.0], "y": [1.0, 2.0]}, {"x": [1.0], "y": ["a", 2.0]}):
            with self.assertRaisesRegex(keelson.KeelsonError, "different lengths"):
                keelson.estimate(uneven, "count", epsilon=1, participation="public")
        with self.assertRaisesRegex(keelson.KeelsonError, "column x holds a object"):
            keelson.estimate({"x": [object()]}, "count", epsilon=1, participation="public")
        with mock.patch.dict(os.environ, {"KEELSON_COMMAND": "no-such-keelson"}):
            with self.assertRaisesRegex(keelson.KeelsonError, "command-missing.*npm install"):
                keelson.estimate([[1.0]], "count", epsilon=1, participation="public")


if __name__ == "__main__":
    unittest.main()
