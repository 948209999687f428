"""The check that a database that comes from a folder is what this program wrote: other tables or
values of other kinds are damage, which SQLite does not see."""
from __future__ import annotations

import sqlite3
from typing import Sequence

KINDS = {"INTEGER": ("integer",), "REAL": ("real", "integer"), "TEXT": ("text",)}


def _tables(connection: sqlite3.Connection) -> dict[str, list[tuple[str, str, bool, bool]]]:
    """Name, kind, whether it may be NULL and whether it is a key of the columns of each table."""
    names = [row[0] for row in connection.execute(
        "SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")]
    return {name: [(column[1], column[2], not column[3], column[5] > 0)
                   for column in connection.execute(f"PRAGMA table_info({name})")]
            for name in names}


def check(connection: sqlite3.Connection, schema: str, signed: Sequence[str]) -> None:
    """Raises sqlite3.DatabaseError. `signed`: columns whose numbers may be below zero."""
    found = connection.execute("PRAGMA quick_check(1)").fetchone()
    if found[0] != "ok":
        raise sqlite3.DatabaseError(found[0])
    fresh = sqlite3.connect(":memory:")
    fresh.executescript(schema)
    tables = _tables(fresh)
    fresh.close()
    there = _tables(connection)
    for table, columns in tables.items():
        if there.get(table) != columns:
            raise sqlite3.DatabaseError(f"the table '{table}' is not as it was made")
        for name, kind, _, is_key in columns:
            kinds = ", ".join(f"'{one}'" for one in KINDS[kind] + (() if is_key else ("null",)))
            bad = f"typeof({name}) NOT IN ({kinds})"
            if kind != "TEXT" and name not in signed:
                bad += f" OR {name} < 0"
            wrong = connection.execute(f"SELECT quote({name}) FROM {table} WHERE {bad}").fetchone()
            if wrong:
                raise sqlite3.DatabaseError(
                    f"'{name}' of the table '{table}' is {wrong[0][:40]} somewhere")
