"""Docstrings: the summary, the rest, and what they say of each parameter. Google style and `:param x:` are understood."""

import re

_SECTION = re.compile(
    r"^(Args|Arguments|Parameters|Params|Keyword Args|Keyword Arguments|Returns|Return|Yields|Raises|Examples?|Notes?):\s*$"
)
_PARAMETER_SECTIONS = ("Args", "Arguments", "Parameters", "Params", "Keyword Args", "Keyword Arguments")
_GOOGLE_PARAMETER = re.compile(r"^\*{0,2}([A-Za-z_]\w*)\s*(?:\([^)]*\))?\s*:\s*(.*)$")
_FIELD = re.compile(r"^:(\w+)(?:\s+([^:]*))?:\s*(.*)$")
_LONGEST = 8000


class Docs:
    __slots__ = ("details", "parameters", "summary")

    def __init__(self, summary, details, parameters):
        self.summary = summary
        self.details = details
        self.parameters = parameters


def parse_docstring(text):
    """`text` as inspect.getdoc gives it."""
    prose, parameters, section, indent, current = [], {}, None, None, None
    for line in text[:_LONGEST].splitlines():
        heading = _SECTION.match(line)
        field = _FIELD.match(line)
        if heading:
            section, indent, current = heading.group(1), None, None
        elif field:
            section = "field"
            current = _field_name(field)
            if current:
                parameters[current] = field.group(3).strip()
        elif section is None or (line and not line[0].isspace() and section != "field"):
            section = None
            prose.append(line)
        elif section in _PARAMETER_SECTIONS:
            depth = len(line) - len(line.lstrip())
            indent = depth if indent is None and line.strip() else indent
            found = _GOOGLE_PARAMETER.match(line.strip()) if depth == indent else None
            if found:
                current = found.group(1)
                parameters[current] = found.group(2).strip()
            elif current and line.strip():
                parameters[current] = f"{parameters[current]} {line.strip()}".strip()
        elif section == "field" and current and line.strip():
            parameters[current] = f"{parameters[current]} {line.strip()}".strip()
        elif section == "field" and not line.strip():
            section, current = None, None
    whole = "\n".join(prose).strip()
    summary, _, details = whole.partition("\n\n")
    return Docs(" ".join(summary.split()), details.strip(), {name: said for name, said in parameters.items() if said})


def _field_name(field):
    """`:param int count: ...` is about `count`; other fields, such as `:returns:`, are about no parameter."""
    kind, rest = field.group(1), (field.group(2) or "").split()
    return rest[-1].lstrip("*") if kind in ("param", "parameter", "arg", "argument", "key", "keyword") and rest else None
