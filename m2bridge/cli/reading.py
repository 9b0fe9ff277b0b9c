"""Files that commands read: JSON with exact numbers, weights."""

from __future__ import annotations

import json
import sys
import zipfile
from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any

__all__ = ["exact_numbers", "read_json", "read_weights"]

_BINARY = (".npy", ".pt", ".pth", ".safetensors", ".pkl", ".h5")
"""Endings of files that hold weights, but not in a form that is read here."""


def read_json(name: str) -> Any:
    """A JSON file (``-``: standard input); integers and texts stay exact.

    Raises:
        ValueError: it cannot be read, or is not JSON.
    """
    try:
        text = sys.stdin.read() if name == "-" else Path(name).read_text("utf-8")
        return json.loads(text)
    except OSError as error:
        raise _unreadable(name, error) from error
    except UnicodeDecodeError:
        raise ValueError(f"{name} is not JSON: it is no text") from None
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{name} is not JSON: {error}") from error


def _unreadable(name: str, error: OSError) -> ValueError:
    return ValueError(f"{name} cannot be read: {error.strerror or error}")


def exact_numbers(value: Any) -> Any:
    """Numbers of a JSON document: texts like "1/2" become exact, the rest stays."""
    if isinstance(value, list):
        return [exact_numbers(item) for item in value]
    if isinstance(value, str):
        try:
            return Fraction(value.replace(" ", ""))
        except (ValueError, ZeroDivisionError):
            raise ValueError(
                f"{value!r} is not a rational number such as 3, -1/2 or 0.25"
            ) from None
    return value


def read_weights(name: str) -> dict[str, Any]:
    """Q, K and V from an .npz file or a JSON object.

    Raises:
        ValueError: the file cannot be read, or one of the three is missing.
    """
    if name.endswith(".npz"):
        import numpy as np

        try:
            with np.load(name, allow_pickle=False) as file:
                found: Mapping[str, Any] = {key: file[key] for key in file.files}
        except OSError as error:
            raise _unreadable(name, error) from error
        except (ValueError, EOFError, zipfile.BadZipFile) as error:
            raise ValueError(f"{name} cannot be read as a .npz file: {error}") from error
    elif name.endswith(_BINARY):
        raise ValueError(f"{name}: weights are read from an .npz file or JSON with Q, K and V")
    else:
        found = read_json(name)
        if not isinstance(found, dict):
            raise ValueError(f'{name} must hold a JSON object with "Q", "K" and "V"')
        found = {key: exact_numbers(value) for key, value in found.items()}
    missing = [key for key in ("Q", "K", "V") if key not in found]
    if missing:
        raise ValueError(f"{name} has no {', '.join(missing)}; it must hold Q, K and V")
    return {key: found[key] for key in ("Q", "K", "V")}
