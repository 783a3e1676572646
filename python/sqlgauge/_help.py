"""What ``help()`` says of a result: the text of its class, and the texts that stand below its fields in the source."""

from __future__ import annotations

import ast
import inspect
from typing import Any, TypeVar

__all__ = ["documented"]

Class = TypeVar("Class")


def documented(cls: type[Class]) -> type[Class]:
    """The class with its fields in its docstring, which Python itself leaves out."""
    setattr(cls, "__doc__", _Text(cls.__doc__ or ""))
    return cls


class _Text:
    """A docstring that is put together when somebody asks for it: the source is not read on import."""

    def __init__(self, own: str) -> None:
        self._own = own

    def __get__(self, instance: object, owner: type[Any]) -> str:
        texts = _texts_of_fields(owner)
        entries = [f"    {name}: {' '.join(text.split())}" for name, text in texts.items()]
        return "\n".join([inspect.cleandoc(self._own), "", "Attributes:", *entries]) if entries else self._own


def _texts_of_fields(cls: type[Any]) -> dict[str, str]:
    try:
        body = ast.parse(inspect.cleandoc(inspect.getsource(cls))).body[0]
    except (OSError, SyntaxError, TypeError):
        # Installed without its sources.
        return {}
    members = body.body if isinstance(body, ast.ClassDef) else []
    texts = {}
    for field, after in zip(members, members[1:]):
        if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name) and isinstance(after, ast.Expr):
            text = after.value.value if isinstance(after.value, ast.Constant) else None
            if isinstance(text, str):
                texts[field.target.id] = text
    return texts
