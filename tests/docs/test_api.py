"""The Python reference names everything that is public, and what it returns."""

from __future__ import annotations

import dataclasses
import importlib
import inspect
import pkgutil
import re
from collections.abc import Iterator

import m2bridge
from m2bridge.version import m2bridge_version
from tests.docs.pages import ROOT

INTERNAL = {"Channel", "Session", "Reply", "WeightIdeal", "Layer", "Network"}
"""Classes behind the public ones: sessions of bytes, the search for equations, base classes."""


def shown() -> list[tuple[str, str]]:
    """The modules and names on the page."""
    page = (ROOT / "docs" / "api.md").read_text(encoding="utf-8")
    return re.findall(r"^::: (m2bridge[\w.]*)\.(\w+)$", page, re.MULTILINE)


def test_what_the_page_shows_is_there() -> None:
    """The same names as the docstrings' tool would look for, which runs only with the site."""
    assert len(shown()) > 40
    for module, name in shown():
        assert hasattr(importlib.import_module(module), name), f"{module}.{name}"


def test_every_public_name_is_on_the_page() -> None:
    names = {name for _, name in shown()}
    errors = set(importlib.import_module("m2bridge.errors").__all__)
    assert ("m2bridge", "errors") in shown()
    assert m2bridge.__version__ == m2bridge_version()
    assert set(m2bridge.__all__) - {"__version__"} - errors <= names


def test_what_methods_return_is_on_the_page() -> None:
    names = {name for _, name in shown()} | INTERNAL
    known = _classes()
    for module, name in shown():
        for where, annotation in _annotations(getattr(importlib.import_module(module), name)):
            for word in re.findall(r"\b[A-Z]\w+", annotation):
                assert word not in known or word in names, f"{name}.{where}: {word}"


def _classes() -> set[str]:
    """The classes of the package."""
    found = set()
    for info in pkgutil.walk_packages(m2bridge.__path__, "m2bridge."):
        if ".cli" not in info.name and not info.name.endswith("__main__"):
            for name, value in vars(importlib.import_module(info.name)).items():
                if inspect.isclass(value) and value.__module__ == info.name and name[0] != "_":
                    found.add(name)
    return found


def _annotations(cls: object) -> Iterator[tuple[str, str]]:
    """What the public methods, properties and fields of a class give, as written in its source."""
    if not inspect.isclass(cls):
        return
    for base in cls.__mro__:
        if not base.__module__.startswith("m2bridge"):
            continue
        if dataclasses.is_dataclass(base):
            yield from ((f.name, str(f.type)) for f in dataclasses.fields(base))
        for name, value in vars(base).items():
            function = value.fget if isinstance(value, property) else getattr(value, "func", value)
            function = getattr(function, "__func__", function)
            result = getattr(function, "__annotations__", {}).get("return")
            if result is not None and not name.startswith("_"):
                yield name, str(result)
