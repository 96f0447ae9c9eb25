"""The @tool decorator: a function's signature, type hints and docstring are the declaration of a tool.

    from typing import Annotated
    from unified_tools import tool

    @tool(read_only=True, tags=["math"])
    def add(a: float, b: Annotated[float, "Second summand", {"minimum": 0}] = 1) -> float:
        '''Adds two numbers.'''
        return a + b

The function can be called as before. Where a hint names what JSON cannot say (datetime, Enum, dataclass, a Pydantic model), the JSON
value is made into it before the function runs. Standard library only, Python 3.9 and newer.
"""

import functools
import inspect

# What reads hints is imported by the first @tool: a worker whose tools have none does not pay for it.

MARK = "__unified_tool__"
_CONTEXT = "context"
_LONGEST_DESCRIPTION = 500

# What the decorator takes: the name here, where it stands in the declaration, and of which type it must be.
_OPTIONS = {
    "name": (("name",), str),
    "description": (("description",), str),
    "timeout_ms": (("timeout_ms",), int),
    "max_result_bytes": (("max_result_bytes",), int),
    "max_result_items": (("max_result_items",), int),
    "retries": (("retries",), dict),
    "concurrency": (("concurrency",), dict),
    "rate_limits": (("rate_limits",), list),
    "extensions": (("extensions",), dict),
    "output_schema": (("output_schema",), dict),
    "pure": (("implementation_config", "pure"), bool),
    "interpreter": (("implementation_config", "interpreter"), str),
    "network": (("implementation_config", "network"), str),
    "version": (("metadata", "version"), str),
    "category": (("metadata", "category"), str),
    "permissions": (("metadata", "permissions"), list),
    "risk_level": (("metadata", "risk_level"), str),
    "is_dangerous": (("metadata", "is_dangerous"), bool),
    "requires_approval": (("metadata", "requires_approval"), bool),
    "read_only": (("metadata", "read_only"), bool),
    "idempotent": (("metadata", "idempotent"), bool),
    "modes": (("metadata", "modes"), list),
    "tags": (("metadata", "tags"), list),
    "summary": (("metadata", "summary"), str),
    "documentation": (("metadata", "documentation"), str),
}


class ToolDefinitionError(Exception):
    """The function cannot be declared as it stands. The message is a sentence for the tool's author."""


def tool(function=None, **options):
    """Marks a function as a tool. Use it as `@tool` or with options, as in `@tool(read_only=True)`."""
    _check_options(options)
    if function is None:
        return lambda decorated: _marked(decorated, options)
    return _marked(function, options)


def tool_spec(function):
    """The declaration of a marked function, as tools.yaml has it. Raises ToolDefinitionError."""
    marked = getattr(function, MARK, None)
    if marked is None:
        raise ToolDefinitionError(f"{getattr(function, '__name__', function)!r} is not marked with @tool")
    original, options = marked
    from unified_tools.hints import HintError

    try:
        return _declaration(original, options)
    except HintError as error:
        raise ToolDefinitionError(str(error)) from None


def _check_options(options):
    for name, value in options.items():
        if name not in _OPTIONS:
            raise TypeError(f"@tool has no option {name!r}; known: {', '.join(sorted(_OPTIONS))}")
        kind = _OPTIONS[name][1]
        if isinstance(value, tuple) and kind is list:
            continue
        if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
            raise TypeError(f"@tool({name}=...) must be a {kind.__name__}, found {type(value).__name__}")


def _marked(function, options):
    if not inspect.isroutine(function):
        raise TypeError(f"@tool is for functions, found {type(function).__name__}")
    converting = _converting(function)
    setattr(converting, MARK, (function, dict(options)))
    return converting


def _converting(function):
    """A function that makes dates, enum members and dataclasses out of JSON, of the same kind as the original."""
    from unified_tools.conversions import ArgumentConversion

    convert = ArgumentConversion(function, without=("return", _CONTEXT))

    if inspect.iscoroutinefunction(function):

        @functools.wraps(function)
        async def call(*args, **kwargs):
            return await function(*args, **convert(kwargs))

    elif inspect.isasyncgenfunction(function):

        @functools.wraps(function)
        async def call(*args, **kwargs):
            async for item in function(*args, **convert(kwargs)):
                yield item

    elif inspect.isgeneratorfunction(function):

        @functools.wraps(function)
        def call(*args, **kwargs):
            yield from function(*args, **convert(kwargs))

    else:

        @functools.wraps(function)
        def call(*args, **kwargs):
            return function(*args, **convert(kwargs))

    return call


def _declaration(function, options):
    from unified_tools.hints import hints_of
    from unified_tools.signature_docs import parse_docstring

    docs = parse_docstring(inspect.getdoc(function) or "")
    hints = hints_of(function)
    declared = {
        "name": function.__name__,
        "description": (docs.summary or f"Calls the Python function {function.__name__}.")[:_LONGEST_DESCRIPTION],
        "tool_type": "python",
        "input_schema": _input_schema(function, hints, docs.parameters),
        "implementation_config": {"module": function.__module__, "function_name": function.__name__},
        "metadata": {},
    }
    output = _output_schema(function, hints.get("return"))
    if output:
        declared["output_schema"] = output
    if docs.details:
        declared["metadata"]["documentation"] = docs.details
    for name, value in options.items():
        place = declared
        *parents, last = _OPTIONS[name][0]
        for parent in parents:
            place = place[parent]
        place[last] = list(value) if isinstance(value, tuple) else value
    return declared


def _input_schema(function, hints, documented):
    from unified_tools.hints import schema_of

    properties, required, is_open = {}, [], False
    for parameter in inspect.signature(function).parameters.values():
        name = parameter.name
        if name == _CONTEXT:
            continue
        if parameter.kind is inspect.Parameter.VAR_KEYWORD:
            is_open = True
            continue
        if parameter.kind in (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.VAR_POSITIONAL):
            raise ToolDefinitionError(f"the parameter {name!r} takes its value by position; arguments are passed by name")
        schema = schema_of(hints[name], f"the parameter {name!r}") if name in hints else {}
        if "description" not in schema and name in documented:
            schema = {**schema, "description": documented[name]}
        if parameter.default is inspect.Parameter.empty:
            required.append(name)
        else:
            schema = _with_default(schema, parameter.default)
        properties[name] = schema
    schema = {"type": "object", "properties": properties}
    if required:
        schema["required"] = required
    if not is_open:
        schema["additionalProperties"] = False
    return schema


def _with_default(schema, default):
    """Told in the schema only where it is plain JSON: the function itself fills in its default."""
    if isinstance(default, (str, int, float, bool)) and type(default) in (str, int, float, bool):
        finite = not isinstance(default, float) or default - default == 0
        return {**schema, "default": default} if finite else schema
    return schema


def _output_schema(function, hint):
    """Only where it says something, and where the result is JSON as it is returned."""
    from unified_tools.conversions import conversion_for
    from unified_tools.hints import HintError, schema_of

    is_generator = inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function)
    if hint is None or hint is type(None) or is_generator:
        return None
    try:
        schema = schema_of(hint, f"what {function.__name__} returns")
        is_json = conversion_for(hint) is None
    except HintError:
        return None
    # A bare dict may be an envelope of the tool's own.
    return schema if is_json and schema not in ({}, {"type": "object"}, {"type": "array"}) else None


__all__ = ["MARK", "ToolDefinitionError", "tool", "tool_spec"]
