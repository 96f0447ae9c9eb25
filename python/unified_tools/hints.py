"""Type hints: as JSON Schema, and as what makes a Python value of a JSON one."""

import collections.abc
import dataclasses
import datetime
import enum
import inspect
import types
import typing
import uuid

_SCALARS = {str: "string", int: "integer", float: "number", bool: "boolean", type(None): "null"}
_TEXTS = {datetime.datetime: "date-time", datetime.date: "date", uuid.UUID: "uuid"}
_LISTS = (list, set, frozenset, collections.abc.Sequence, collections.abc.Iterable, collections.abc.Set)
_MAPS = (dict, collections.abc.Mapping, collections.abc.MutableMapping)
_UNIONS = tuple(kind for kind in (typing.Union, getattr(types, "UnionType", None)) if kind is not None)
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
_MAX_DEPTH = 12


class HintError(Exception):
    """A hint that has no JSON Schema, or names something that is not there."""


def hints_of(function):
    try:
        return typing.get_type_hints(inspect.unwrap(function), include_extras=True)
    except Exception as error:
        raise HintError(f"the type hints of {function.__name__} cannot be read: {type(error).__name__}: {error}") from None


def schema_of(hint, what, depth=0):
    """The JSON Schema of a hint; `{}` for one that allows anything. Raises HintError."""
    if depth > _MAX_DEPTH:
        raise HintError(f"{what} has a type that is nested deeper than {_MAX_DEPTH} levels, or contains itself")
    if hint in (typing.Any, inspect.Parameter.empty, object):
        return {}
    if hint is None:
        return {"type": "null"}
    if isinstance(hint, type) and hint in _SCALARS:
        return {"type": _SCALARS[hint]}
    if isinstance(hint, type) and hint in _TEXTS:
        return {"type": "string", "format": _TEXTS[hint]}
    if isinstance(hint, typing.TypeVar):
        raise HintError(f"{what} has the type variable {hint}, which says nothing of its values")
    origin = typing.get_origin(hint)
    if origin is not None:
        return _schema_of_generic(hint, origin, what, depth)
    if hint in _LISTS or hint is tuple:
        return {"type": "array"}
    if hint in _MAPS:
        return {"type": "object"}
    return _schema_of_class(hint, what, depth)


def _schema_of_generic(hint, origin, what, depth):
    inside = typing.get_args(hint)
    if origin is typing.Annotated:
        return _annotated(schema_of(inside[0], what, depth), inside[1:], what)
    if origin is typing.Literal:
        return _enumeration([member.value if isinstance(member, enum.Enum) else member for member in inside], what)
    if origin in _UNIONS:
        return _union([schema_of(each, what, depth + 1) for each in inside])
    if origin in _LISTS:
        items = schema_of(inside[0], f"an item of {what}", depth + 1)
        return {"type": "array", **({"items": items} if items else {})}
    if origin is tuple:
        return _schema_of_tuple(inside, what, depth)
    if origin in _MAPS:
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
    return {"type": "array", "prefixItems": items, "minItems": len(items), "maxItems": len(items)} if items else {"type": "array", "maxItems": 0}


def _schema_of_class(hint, what, depth):
    if not isinstance(hint, type):
        raise HintError(f"{what} has the type {hint!r}, for which there is no JSON Schema")
    if issubclass(hint, enum.Enum):
        return _enumeration([member.value for member in hint], what)
    if dataclasses.is_dataclass(hint):
        fields = [field for field in dataclasses.fields(hint) if field.init]
        required = [field.name for field in fields if _has_no_default(field)]
        return _object(hint, [field.name for field in fields], required, what, depth)
    if issubclass(hint, dict) and hasattr(hint, "__required_keys__"):
        hints = _class_hints(hint)
        return _object(hint, list(hints), [name for name in hints if name in hint.__required_keys__], what, depth)
    raise HintError(f"{what} has the type {hint.__name__}, for which there is no JSON Schema")


def _object(hint, names, required, what, depth):
    hints = _class_hints(hint)
    properties = {name: schema_of(hints[name], f"{name!r} of {what}", depth + 1) for name in names}
    schema = {"type": "object", "properties": properties, "additionalProperties": False}
    if required:
        schema["required"] = required
    return schema


def _class_hints(hint):
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


def conversion_for(hint, depth=0):
    """What makes the hinted Python value of a JSON value; None where the JSON value is it already."""
    if depth > _MAX_DEPTH:
        return None
    origin = typing.get_origin(hint)
    inside = typing.get_args(hint)
    if origin is typing.Annotated:
        return conversion_for(inside[0], depth)
    if origin in _UNIONS:
        return _one_of([each for each in inside if each is not type(None)], depth)
    if origin in _LISTS or origin is tuple:
        return _each(origin, inside, depth)
    if origin in _MAPS and len(inside) == 2:
        of_value = conversion_for(inside[1], depth + 1)
        return of_value and (lambda value: {k: of_value(v) for k, v in value.items()} if isinstance(value, dict) else value)
    if not isinstance(hint, type):
        return None
    if hint in (set, frozenset, tuple):
        return lambda value: hint(value) if isinstance(value, list) else value
    return _conversion_for_class(hint, depth)


def _conversion_for_class(hint, depth):
    if hint in _TEXTS:
        parse = _PARSERS[hint]
        return lambda value: parse(value) if isinstance(value, str) else value
    if issubclass(hint, enum.Enum):
        return lambda value: value if isinstance(value, hint) else hint(value)
    if not dataclasses.is_dataclass(hint):
        return None
    conversions = {name: conversion_for(each, depth + 1) for name, each in _class_hints(hint).items()}

    def build(value):
        if not isinstance(value, dict):
            return value
        return hint(**{name: conversions[name](item) if conversions.get(name) else item for name, item in value.items()})

    return build


def _one_of(choices, depth):
    """Only one kind of a union may need conversion; with more, what fits first cannot be told from JSON."""
    found = [conversion for conversion in (conversion_for(each, depth + 1) for each in choices) if conversion]
    if len(found) != 1:
        return None
    (convert,) = found
    is_sole = len(choices) == 1

    def attempt(value):
        if value is None:
            return None
        try:
            return convert(value)
        except (ValueError, TypeError):
            if is_sole:
                raise
            return value

    return attempt


def _each(origin, inside, depth):
    make = origin if origin in (set, frozenset, tuple) else None
    of_item = conversion_for(inside[0], depth + 1) if inside and (origin is not tuple or inside[1:] == (Ellipsis,)) else None
    if make is None and of_item is None:
        return None

    def convert(value):
        if not isinstance(value, list):
            return value
        items = [of_item(item) for item in value] if of_item else value
        return make(items) if make else items

    return convert


def _parse_datetime(text):
    # Before Python 3.11, fromisoformat does not know the Z.
    return datetime.datetime.fromisoformat(f"{text[:-1]}+00:00" if text[-1:] in ("Z", "z") else text)


_PARSERS = {datetime.datetime: _parse_datetime, datetime.date: datetime.date.fromisoformat, uuid.UUID: uuid.UUID}
