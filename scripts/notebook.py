"""Runs the blocks of Python of a page, in order and in one program, and writes their outputs.

python3 scripts/notebook.py PAGE NOTEBOOK: after each block PAGE gets what it printed and its last
value, as a block of text, and NOTEBOOK becomes the same as a notebook of Jupyter. The noise has a
seed, so equal code gives equal files.
"""
import ast
import contextlib
import io
import json
import os
import re
import sys

BLOCK = re.compile(r"^```python\n(.*?)^```\n(?:\n```text\n.*?^```\n)?", re.MULTILINE | re.DOTALL)


def run(code, names):
    """Returns what a cell printed, its last value as text, and as HTML where that has a form."""
    tree = ast.parse(code)
    ends = tree.body and isinstance(tree.body[-1], ast.Expr)
    value = ast.Expression(tree.body.pop().value) if ends else None
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(tree, "cell", "exec"), names)
        result = None if value is None else eval(compile(value, "cell", "eval"), names)
    shown = "" if result is None else repr(result)
    has_html = type(result).__module__.startswith("keelson") and hasattr(result, "_repr_html_")
    return printed.getvalue(), shown, result._repr_html_() if has_html else None


def lines_of(text):
    return text.splitlines(keepends=True)


def cell(kind, number, text, **more):
    return {"cell_type": kind, "id": f"cell-{number}", "metadata": {},
            "source": lines_of(text.strip("\n")), **more}


def outputs_of(printed, shown, html, count):
    outputs = []
    if printed:
        outputs.append({"name": "stdout", "output_type": "stream", "text": lines_of(printed)})
    if shown:
        data = {"text/plain": lines_of(shown)}
        if html is not None:
            data["text/html"] = lines_of(html)
        outputs.append({"data": data, "execution_count": count, "metadata": {},
                        "output_type": "execute_result"})
    return outputs


def main(page, notebook):
    with open(page, encoding="utf-8") as file:
        text = file.read()
    cells, parts, names, end, count = [], [], {}, 0, 0
    for block in BLOCK.finditer(text):
        between, code = text[end:block.start()], block.group(1)
        end, count = block.end(), count + 1
        printed, shown, html = run(code, names)
        said = (printed + shown).rstrip("\n")
        parts += [between, f"```python\n{code}```\n", f"\n```text\n{said}\n```\n" if said else ""]
        cells.append(cell("markdown", len(cells), between))
        cells.append(cell("code", len(cells), code, execution_count=count,
                          outputs=outputs_of(printed, shown, html, count)))
    cells.append(cell("markdown", len(cells), text[end:]))
    whole = {"cells": [each for each in cells if each["source"]], "metadata": {
        "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
        "language_info": {"name": "python"}}, "nbformat": 4, "nbformat_minor": 5}
    with open(page, "w", encoding="utf-8") as file:
        file.write("".join([*parts, text[end:]]))
    with open(notebook, "w", encoding="utf-8") as file:
        json.dump(whole, file, indent=1, ensure_ascii=False)
        file.write("\n")


if __name__ == "__main__":
    os.environ.setdefault("KEELSON_INSECURE_SEED", "notebook")
    main(*sys.argv[1:])
