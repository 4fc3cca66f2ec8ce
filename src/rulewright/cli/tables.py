"""What `rulewright inspect` tells of related tables: their columns, and keys that they may have."""

import json
import shlex
from pathlib import Path

from rulewright import relational

DATABASES = (".duckdb", ".db", ".ddb")


def tables_text(path: Path) -> str:
    """List tables, declared and proposed keys, and how to name them to `learn`."""
    opened = relational.open_tables(path)
    lines = [f"{path}: {len(opened.sources)} tables"]
    for name, source in opened.sources.items():
        lines.append(f"  {name}: {source.n_rows} rows, columns {', '.join(source.names)}")
    declared = [f"  {a[0]}.{a[1]} -> {b[0]}.{b[1]}" for a, b in opened.foreign.items()]
    if declared:
        return "\n".join([*lines, "declared keys, which 'learn' uses:", *declared])
    proposals = relational.Relations.propose(path)
    if not proposals:
        return "\n".join([*lines, "no column holds the keys of another table"])
    options = [
        f"--keys {shlex.quote(f'{one.link.child}={one.link.parent}')}"
        for one in proposals
        if one.named
    ]
    advice = f"as options of 'learn': {' '.join(options)}"
    return "\n".join([*lines, str(proposals), *([advice] if options else [])])


def tables_json(path: Path) -> str:
    """Give the same as plain data."""
    opened = relational.open_tables(path)
    proposals = relational.Relations.propose(path)
    content = {
        "file": str(path),
        "tables": [
            {"name": name, "rows": source.n_rows, "columns": list(source.names)}
            for name, source in opened.sources.items()
        ],
        "declared": [{"child": list(a), "parent": list(b)} for a, b in opened.foreign.items()],
        "proposed": [
            {
                "child": list(one.link.child),
                "parent": list(one.link.parent),
                "covered": one.covered,
                "values": one.n_values,
                "names_agree": one.named,
            }
            for one in proposals
        ],
    }
    return json.dumps(content, indent=2)
