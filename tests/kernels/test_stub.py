"""The stub that the build writes, with patterns of our own, says what the module has."""

import ast
import re
from pathlib import Path

import rulewright.kernels
from rulewright.kernels import _core

STUB = ast.parse(Path(rulewright.kernels.__file__).with_name("_core.pyi").read_text())


def stub_signatures(body, owner=""):
    """Give the parameter names of every function of the stub, by its dotted name."""
    found = {}
    for node in body:
        if isinstance(node, ast.ClassDef):
            found |= stub_signatures(node.body, f"{node.name}.")
        elif isinstance(node, ast.FunctionDef):
            found[owner + node.name] = [arg.arg for arg in node.args.args + node.args.kwonlyargs]
    return found


def native_parameters(function):
    """Give the parameter names that the binding documents."""
    signature = function.__doc__.splitlines()[0].partition(" -> ")[0]
    return re.findall(r"(?:^[^(]*\(|, )(\w+)(?=: |,|\))", re.sub(r"\[[^\]]*\]", "", signature))


def test_the_stub_names_what_the_module_has():
    """No function or class is missing in the stub, none is too many."""
    public = {name for name in dir(_core) if not name.startswith("_")}
    classes = {node.name for node in STUB.body if isinstance(node, ast.ClassDef)}
    functions = {name for name in stub_signatures(STUB.body) if "." not in name}
    assert classes | functions | {"score_names"} == public


def test_the_stub_has_the_parameters_of_the_module():
    """Every function and method has the same parameters in the same order."""
    for name, parameters in stub_signatures(STUB.body).items():
        native = _core
        for part in name.split("."):
            native = getattr(native, part)
        assert native_parameters(native) == parameters, name
