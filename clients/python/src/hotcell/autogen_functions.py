"""Functions that code blocks can import: their module, what a model is told of them, and the packages they need."""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Union

from autogen_core.code_executor import Alias, FunctionWithRequirements, FunctionWithRequirementsStr, ImportFromModule

Function = Union[FunctionWithRequirements[Any, Any], Callable[..., Any], FunctionWithRequirementsStr]

# Prints what the image has, one package on each line.
list_packages = "from importlib.metadata import distributions\nfor d in distributions(): print(d.metadata['Name'], d.version)\n"


def module_of(functions: Sequence[Function]) -> str:
    imports = {one: None for function in functions for one in getattr(function, "global_imports", ())}
    return "\n".join([*map(_import, imports), "", *(f"{_source(function)}\n\n" for function in functions)])


def stub_of(function: Function) -> str:
    if isinstance(function, FunctionWithRequirementsStr):
        return stub_of(function.compiled_func)
    if isinstance(function, FunctionWithRequirements):
        return stub_of(function.func)
    doc = inspect.getdoc(function)
    shown = textwrap.indent(f'"""{doc}"""\n', "    ") if doc else ""
    return f"def {function.__name__}{inspect.signature(function)}:\n{shown}    ..."


def packages_of(functions: Sequence[Function]) -> list[str]:
    asked: list[str] = []
    for function in functions:
        packages = getattr(function, "python_packages", ())
        asked += [packages] if isinstance(packages, str) else packages
    return list(dict.fromkeys(asked))


def missing_of(asked: Sequence[str], listed: str) -> list[str]:
    """The packages that the image lacks, or has in a version that does not fit."""
    from packaging.requirements import InvalidRequirement, Requirement
    from packaging.utils import canonicalize_name

    there: Mapping[str, str] = {
        canonicalize_name(name): version for name, _, version in (line.rpartition(" ") for line in listed.splitlines())
    }
    missing: list[str] = []
    for one in asked:
        try:
            wanted = Requirement(one)
        except InvalidRequirement:
            missing.append(one)
            continue
        version = there.get(canonicalize_name(wanted.name))
        if version is None or not wanted.specifier.contains(version, prereleases=True):
            missing.append(one if version is None else f"{one} (the image has {version})")
    return missing


def _source(function: Function) -> str:
    if isinstance(function, FunctionWithRequirementsStr):
        return textwrap.dedent(function.func).strip()
    plain = function.func if isinstance(function, FunctionWithRequirements) else function
    text = textwrap.dedent(inspect.getsource(plain))
    # Decorators belong to the program that has them; one may take several lines.
    definition = next(
        (node for node in ast.parse(text).body if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))), None
    )
    if definition is None:
        raise ValueError(f"{plain!r} is not a function with a definition of its own: a lambda can't be imported.")
    return "\n".join(text.splitlines()[definition.lineno - 1 : definition.end_lineno])


def _import(one: Any) -> str:
    if isinstance(one, ImportFromModule):
        return f"from {one.module} import {', '.join(map(_name, one.imports))}"
    return f"import {_name(one)}"


def _name(one: Any) -> str:
    return f"{one.name} as {one.alias}" if isinstance(one, Alias) else str(one)
