"""Type hints as JSON Schema."""

import collections.abc
import dataclasses
import datetime
import enum
import inspect
import types
import typing
import uuid

_SCALARS = {str: "string", int: "integer", float: "number", bool: "boolean", type(None): "null"}
TEXTS = {datetime.datetime: "date-time", datetime.date: "date", uuid.UUID: "uuid"}
LISTS = (list, set, frozenset, collections.abc.Sequence, collections.abc.Iterable, collections.abc.Set)
MAPS = (dict, collections.abc.Mapping, collections.abc.MutableMapping)
UNIONS = tuple(kind for kind in (typing.Union, getattr(types, "UnionType", None)) if kind is not None)
_BOUNDS = {
    "ge": "minimum",
    "gt": "exclusiveMinimum",
    "le": "maximum",
    "lt": "exclusiveMaximum",
    "multiple_of": "multipleOf",
    "min_length": "minLength",
    "max_length": "maxLength",
    "pattern": "pattern",
}
MAX_DEPTH = 12


class HintError(Exception):
    """A hint that has no JSON Schema, or names something that is not there."""


def hints_of(function):
    try:
        return typing.get_type_hints(inspect.unwrap(function), include_extras=True)
    except Exception as error:
        name = f"the type hints of {function.__name__}"
        raise HintError(f"{name} cannot be read: {type(error).__name__}: {error}") from None


def schema_of(hint, what, depth=0):
    """The JSON Schema of a hint; `{}` for one that allows anything. Raises HintError."""
    if depth > MAX_DEPTH:
        raise HintError(f"{what} has a type that is nested deeper than {MAX_DEPTH} levels, or contains itself")
    if hint in (typing.Any, inspect.Parameter.empty, object):
        return {}
    if hint is None:
        return {"type": "null"}
    if isinstance(hint, type) and hint in _SCALARS:
        return {"type": _SCALARS[hint]}
    if isinstance(hint, type) and hint in TEXTS:
        return {"type": "string", "format": TEXTS[hint]}
    if isinstance(hint, typing.TypeVar):
        raise HintError(f"{what} has the type variable {hint}, which says nothing of its values")
    origin = typing.get_origin(hint)
    if origin is not None:
        return _schema_of_generic(hint, origin, what, depth)
    if hint in LISTS or hint is tuple:
        return {"type": "array"}
    if hint in MAPS:
        return {"type": "object"}
    return _schema_of_class(hint, what, depth)


def _schema_of_generic(hint, origin, what, depth):
    inside = typing.get_args(hint)
    if origin is typing.Annotated:
        return _annotated(schema_of(inside[0], what, depth), inside[1:], what)
    if origin is typing.Literal:
        return _enumeration([member.value if isinstance(member, enum.Enum) else member for member in inside], what)
    if origin in UNIONS:
        return _union([schema_of(each, what, depth + 1) for each in inside])
    if origin in LISTS:
        items = schema_of(inside[0], f"an item of {what}", depth + 1)
        return {"type": "array", **({"items": items} if items else {})}
    if origin is tuple:
        return _schema_of_tuple(inside, what, depth)
    if origin in MAPS:
        if inside[0] is not str:
            raise HintError(f"{what} is a dict whose keys are not str; JSON has no others")
        values = schema_of(inside[1], f"a value of {what}", depth + 1)
        return {"type": "object", **({"additionalProperties": values} if values else {})}
    name = getattr(origin, "_name", None) or getattr(origin, "__name__", str(origin))
    if name in ("Required", "NotRequired", "ReadOnly", "Final", "ClassVar"):
        return schema_of(inside[0], what, depth)
    raise HintError(f"{what} has the type {hint}, for which there is no JSON Schema")


def _schema_of_tuple(inside, what, depth):
    if len(inside) == 2 and inside[1] is Ellipsis:
        return {"type": "array", "items": schema_of(inside[0], f"an item of {what}", depth + 1)}
    items = [schema_of(each, f"an item of {what}", depth + 1) for each in inside if each != ()]
    if not items:
        return {"type": "array", "maxItems": 0}
    return {"type": "array", "prefixItems": items, "minItems": len(items), "maxItems": len(items)}


def _schema_of_class(hint, what, depth):
    if not isinstance(hint, type):
        raise HintError(f"{what} has the type {hint!r}, for which there is no JSON Schema")
    if issubclass(hint, enum.Enum):
        return _enumeration([member.value for member in hint], what)
    if dataclasses.is_dataclass(hint):
        fields = [field for field in dataclasses.fields(hint) if field.init]
        required = [field.name for field in fields if _has_no_default(field)]
        return _object(hint, [field.name for field in fields], required, what, depth)
    if is_model(hint):
        return _inlined(hint.model_json_schema(), what)
    if issubclass(hint, dict) and hasattr(hint, "__required_keys__"):
        hints = class_hints(hint)
        return _object(hint, list(hints), [name for name in hints if name in hint.__required_keys__], what, depth)
    raise HintError(f"{what} has the type {hint.__name__}, for which there is no JSON Schema")


def _object(hint, names, required, what, depth):
    hints = class_hints(hint)
    properties = {name: schema_of(hints[name], f"{name!r} of {what}", depth + 1) for name in names}
    schema = {"type": "object", "properties": properties, "additionalProperties": False}
    if required:
        schema["required"] = required
    return schema


def is_model(hint):
    """A class of Pydantic's, which is not imported for that."""
    return all(inspect.ismethod(getattr(hint, name, None)) for name in ("model_json_schema", "model_validate"))


def _inlined(schema, what):
    """Without `$defs`, which are found from the root alone, and titles, which repeat the names."""
    definitions = schema.get("$defs", {})

    def inline(value, within):
        if isinstance(value, list):
            return [inline(each, within) for each in value]
        if not isinstance(value, dict):
            return value
        name = str(value.get("$ref", "")).rpartition("/")[2]
        if name in within or len(within) > MAX_DEPTH:
            raise HintError(f"{what} has a type that is nested deeper than {MAX_DEPTH} levels, or contains itself")
        if name in definitions:
            others = {key: each for key, each in value.items() if key != "$ref"}
            return inline({**definitions[name], **others}, (*within, name))
        return {key: _members(key, each, within) for key, each in value.items() if not _is_noise(key, each)}

    def _members(key, value, within):
        if key == "properties" and isinstance(value, dict):
            return {name: inline(each, within) for name, each in value.items()}
        return value if key in ("default", "enum", "const", "examples") else inline(value, within)

    return inline(schema, ())


def _is_noise(key, value):
    return key == "$defs" or (key == "title" and isinstance(value, str))


def class_hints(hint):
    try:
        return typing.get_type_hints(hint, include_extras=True)
    except Exception as error:
        raise HintError(f"the type hints of {hint.__name__} cannot be read: {type(error).__name__}: {error}") from None


def _has_no_default(field):
    return field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING


def _enumeration(values, what):
    if not values or not all(value is None or type(value) in (str, int, float, bool) for value in values):
        raise HintError(f"{what} must be one of some values that are not all strings, numbers and booleans")
    kinds = sorted({_SCALARS[type(value)] for value in values})
    return {"type": kinds[0] if len(kinds) == 1 else kinds, "enum": list(values)}


def _union(schemas):
    plain = [schema["type"] for schema in schemas if list(schema) == ["type"] and isinstance(schema["type"], str)]
    if len(plain) == len(schemas):
        kinds = list(dict.fromkeys(plain))
        return {"type": kinds[0] if len(kinds) == 1 else kinds}
    others = [schema for schema in schemas if schema != {"type": "null"}]
    if {} in others:
        return {}
    if len(others) == 1 and len(schemas) == 2 and isinstance(others[0].get("type"), str):
        nullable = {**others[0], "type": [others[0]["type"], "null"]}
        if "enum" in nullable:
            nullable["enum"] = [*nullable["enum"], None]
        return nullable
    return {"anyOf": schemas}


def _annotated(schema, extras, what):
    """A text is the description, a dict is JSON Schema; objects with `ge`, `max_length` and so on are bounds."""
    for extra in extras:
        if isinstance(extra, str):
            schema = {**schema, "description": extra}
        elif isinstance(extra, dict):
            schema = {**schema, **extra}
        else:
            schema = {**schema, **_bounds(extra, schema)}
    return schema


def _bounds(extra, schema):
    found = {}
    kinds = [schema.get("type")] if isinstance(schema.get("type"), str) else schema.get("type") or []
    for attribute, keyword in _BOUNDS.items():
        value = getattr(extra, attribute, None)
        if isinstance(value, (int, float, str)) and not isinstance(value, bool):
            is_list = "array" in kinds and keyword in ("minLength", "maxLength")
            found[keyword.replace("Length", "Items") if is_list else keyword] = value
    description = getattr(extra, "description", None)
    if isinstance(description, str):
        found["description"] = description
    return found
