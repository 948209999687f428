"""Reads a TOML file with messages that name the file, the section and the key."""
from __future__ import annotations

import pathlib
from typing import Any, Mapping

from heddle.base.mistakes import Mistake


def load(path: pathlib.Path) -> dict[str, Any]:
    import tomllib  # most commands read none
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise Mistake(f"cannot read '{path}': {error.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise Mistake(f"{path}: {error}") from None


class Reader:
    """Reads one file, and names it and the place in messages."""

    def __init__(self, path: pathlib.Path):
        self.path = path

    def wrong(self, message: str) -> Mistake:
        return Mistake(f"{self.path}: {message}")

    def section(self, table: Mapping[str, Any], name: str, keys: set[str], where: str) -> Any:
        found = table.get(name, {})
        if not isinstance(found, dict):
            raise self.wrong(f"'{name}' is a section: [{name}]")
        self.known(found, keys, where)
        return found

    def known(self, found: Mapping[str, Any], keys: set[str], where: str) -> None:
        for key in found:
            if key not in keys:
                raise self.wrong(f"unknown key '{key}' {where}; it has {', '.join(sorted(keys))}")

    def get(self, found: Mapping[str, Any], key: str, kind: type, where: str, default: Any) -> Any:
        """The value of a key; without a default (...) it must be there."""
        if key not in found:
            if default is ...:
                raise self.wrong(f"'{key}' is missing {where}")
            return default
        value = found[key]
        if kind is float and type(value) is int:
            value = float(value)
        if type(value) is not kind:
            kinds = {str: "a text", float: "a number", int: "a whole number", list: "a list",
                     dict: "a table"}
            raise self.wrong(f"'{key}' {where} must be {kinds[kind]}")
        return value

    def texts(self, found: Mapping[str, Any], key: str, where: str, default: Any = ()) -> Any:
        values = self.get(found, key, list, where, default)
        if not all(isinstance(value, str) for value in values):
            raise self.wrong(f"'{key}' {where} must be a list of texts")
        return tuple(values)

    def pairs(self, found: Mapping[str, Any], key: str, where: str) -> dict[str, str]:
        values = self.get(found, key, dict, where, {})
        return {name: str(value) for name, value in values.items()}
