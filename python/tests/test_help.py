"""`help()` says at run time what the stubs say: a signature with names, and a text."""

from __future__ import annotations

import ast
import inspect
import pydoc
from pathlib import Path
from typing import Any

import pytest

import sqlgauge as sg

STUB = ast.parse((Path(sg.__file__).parent / "_native.pyi").read_text())
PUBLIC = [name for name in sg.__all__ if callable(getattr(sg, name))]


@pytest.mark.parametrize("name", PUBLIC)
def test_all_that_can_be_called_has_a_signature_and_a_text(name: str) -> None:
    thing = getattr(sg, name)
    text = inspect.getdoc(thing) or ""
    assert len(text) > 20, name
    if not (inspect.isclass(thing) and issubclass(thing, Exception)):
        # Python itself has no signature for an exception.
        assert str(inspect.signature(thing)) != "(*args, **kwargs)", name


@pytest.mark.parametrize("name", [name for name in PUBLIC if inspect.isfunction(getattr(sg, name))])
def test_the_text_of_a_function_explains_each_argument(name: str) -> None:
    function = getattr(sg, name)
    text = inspect.getdoc(function) or ""
    if name == "load":
        return
    named = [argument for argument in inspect.signature(function).parameters]
    assert [argument for argument in named if f"    {argument}: " not in text] == []


def test_the_module_says_at_run_time_what_its_stub_says() -> None:
    differ = []
    for node in STUB.body:
        if not isinstance(node, ast.ClassDef) or node.name not in sg.__all__:
            continue
        members: list[tuple[str, Any, Any]] = [(node.name, node, getattr(sg, node.name))]
        of_class = (own for own in node.body if isinstance(own, ast.FunctionDef))
        members += [(own.name, own, getattr(getattr(sg, node.name), own.name)) for own in of_class]
        differ += [
            f"{node.name}: {name}"
            for name, own, thing in members
            if ast.get_docstring(own) and ast.get_docstring(own) != inspect.getdoc(thing)
        ]
    assert differ == []


def test_help_names_arguments_and_fields() -> None:
    reward = pydoc.plain(pydoc.render_doc(sg.Reward))
    assert "witness_folder=None" in reward
    assert "Seconds of processor time" in reward
    assert "One gold or several for each" in reward
    call = pydoc.plain(pydoc.render_doc(sg.Reward.__call__))
    assert "db_ids: The database of each" in call
    assert [*inspect.signature(sg.Reward.__call__).parameters] == ["self", "predictions", "golds", "db_ids"]
    verification = pydoc.plain(pydoc.render_doc(sg.Verification))
    assert "witness: A database on which the results differ, as an SQL script." in verification
