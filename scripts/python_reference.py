"""Writes the reference of the package in clients/python, from its sources.

python3 scripts/python_reference.py FILE
"""
import ast
import os
import re
import sys

FOLDER = os.path.join(os.path.dirname(__file__), "..", "clients", "python", "keelson")
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
HEAD = """# The Python package

Everything that `import keelson` gives. [Answers in Python](../guides/python.md) shows it at work, and [the client](../../clients/python/README.md) says
how to install it. `scripts/python_reference.py` writes this page from the sources.
"""


def module(name):
    with open(os.path.join(FOLDER, f"{name}.py"), encoding="utf-8") as file:
        return ast.parse(file.read()).body


def signature(node, name):
    """The call, with a line for each argument where they need more than one."""
    returns = "" if node.returns is None else f" -> {ast.unparse(node.returns)}"
    given = [each for each in node.args.args if each.arg != "self"]
    defaults = [None] * (len(given) - len(node.args.defaults)) + node.args.defaults
    parts = [argument(*each) for each in zip(given, defaults)]
    if node.args.kwonlyargs:
        parts += ["*", *(argument(*each) for each in zip(node.args.kwonlyargs, node.args.kw_defaults))]
    wait = "async " if isinstance(node, ast.AsyncFunctionDef) else ""
    line = f"{wait}{name}({', '.join(parts)}){returns}"
    if len(line) > 90:
        line = f"{wait}{name}(\n" + "".join(f"    {part},\n" for part in parts) + f"){returns}"
    return f"```python\n{line}\n```"


def argument(given, default):
    kind = "" if given.annotation is None else f": {ast.unparse(given.annotation)}"
    return f"{given.arg}{kind}" + ("" if default is None else f" = {ast.unparse(default)}")


def fields(node):
    """The fields and properties of a class, each with what it says."""
    for each, after in zip(node.body, [*node.body[1:], None]):
        if isinstance(each, ast.AnnAssign) and not each.target.id.startswith("_"):
            said = after.value.value if isinstance(after, ast.Expr) and isinstance(
                after.value, ast.Constant) and isinstance(after.value.value, str) else ""
            yield f"- `{each.target.id}: {ast.unparse(each.annotation)}` {' '.join(said.split())}".rstrip()
        elif isinstance(each, ast.FunctionDef) and is_property(each):
            said = " ".join((ast.get_docstring(each) or "").split())
            yield f"- `{each.name}: {ast.unparse(each.returns)}` {said}".rstrip()


def text_of(node):
    """The docstring, with a bullet for each argument that begins a line."""
    text = re.sub(r"^(Raises|Returns) ", r"\n\1 ", ast.get_docstring(node) or "", flags=re.MULTILINE)
    return re.sub(r"^([a-z_]+): ", r"- `\1`: ", text, flags=re.MULTILINE)


def is_property(node):
    return any(ast.unparse(each) == "property" for each in node.decorator_list)


def methods(node):
    for each in node.body:
        if isinstance(each, FUNCTIONS) and not each.name.startswith("_") and not is_property(each) \
                and ast.get_docstring(each):
            yield from [f"### {node.name}.{each.name}", signature(each, each.name), text_of(each)]


def section(node):
    parts = [f"## {node.name}"]
    if isinstance(node, FUNCTIONS):
        parts += [signature(node, node.name), text_of(node)]
    else:
        made = [each for each in node.body if isinstance(each, FUNCTIONS) and each.name == "__init__"]
        parts += [*(signature(each, node.name) for each in made), text_of(node),
                  "\n".join(fields(node)), *methods(node)]
    return "\n\n".join(part for part in parts if part) + "\n"


def main(path):
    body = module("__init__")
    places = {each.name: node.module for node in body if isinstance(node, ast.ImportFrom)
              for each in node.names if node.module is not None}
    (names,) = [ast.literal_eval(node.value) for node in body if isinstance(node, ast.Assign)]
    found = [node for name in names if name in places for node in module(places[name])
             if isinstance(node, (ast.ClassDef, *FUNCTIONS)) and node.name == name]
    with open(path, "w", encoding="utf-8") as file:
        file.write("\n".join([HEAD, *map(section, found)]))


if __name__ == "__main__":
    main(*sys.argv[1:])
