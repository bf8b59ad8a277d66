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

    def test_people_and_columns(self):
        table = {"id": [place // 2 for place in range(600)], "name": ["a,\"b\""] * 600,
                 "minutes": [4] * 600}
        answer = keelson.estimate(table, "mean", columns=["minutes"], contributor="id",
                                  **self.asked)
        self.assertEqual(answer.names, ["minutes"])
        self.assertEqual(answer.facts["rows"], 300)
        with self.assertRaisesRegex(keelson.KeelsonError, "no column hours"):
            keelson.estimate(table, "mean", columns=["hours"], **self.asked)

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
        with self.assertRaisesRegex(keelson.KeelsonError, "column x holds a object"):
            keelson.estimate({"x": [object()]}, "count", epsilon=1, participation="public")
        with mock.patch.dict(os.environ, {"KEELSON_COMMAND": "no-such-keelson"}):
            with self.assertRaisesRegex(keelson.KeelsonError, "command-missing.*npm install"):
                keelson.estimate([[1.0]], "count", epsilon=1, participation="public")


if __name__ == "__main__":
    unittest.main()
