"""Type hints as what makes a Python value of a JSON one: dates, enum members, dataclasses, Pydantic models, sets."""

import dataclasses
import datetime
import enum
import typing
import uuid

from unified_tools.hints import LISTS, MAPS, MAX_DEPTH, TEXTS, UNIONS, class_hints, hints_of, is_model


class ArgumentConversion:
    """Of a function's keyword arguments. Found out at the first call: names in hints may be defined after it."""

    __slots__ = ("_conversions", "_function", "_without")

    def __init__(self, function, without):
        self._function = function
        self._without = without
        self._conversions = None

    def __call__(self, arguments):
        if self._conversions is None:
            self._conversions = self._found()
        for name, conversion in self._conversions.items():
            if name in arguments:
                arguments[name] = conversion(arguments[name])
        return arguments

    def _found(self):
        hints = hints_of(self._function).items()
        found = {name: conversion_for(hint) for name, hint in hints if name not in self._without}
        return {name: conversion for name, conversion in found.items() if conversion is not None}


def conversion_for(hint, depth=0):
    """What makes the hinted Python value of a JSON value; None where the JSON value is it already."""
    if depth > MAX_DEPTH:
        return None
    origin = typing.get_origin(hint)
    inside = typing.get_args(hint)
    if origin is typing.Annotated:
        return conversion_for(inside[0], depth)
    if origin in UNIONS:
        return _one_of([each for each in inside if each is not type(None)], depth)
    if origin in LISTS or origin is tuple:
        return _each(origin, inside, depth)
    if origin in MAPS and len(inside) == 2:
        return _each_value(conversion_for(inside[1], depth + 1))
    if not isinstance(hint, type):
        return None
    if hint in (set, frozenset, tuple):
        return lambda value: hint(value) if isinstance(value, list) else value
    return _conversion_for_class(hint, depth)


def _conversion_for_class(hint, depth):
    if hint in TEXTS:
        parse = _PARSERS[hint]
        return lambda value: parse(value) if isinstance(value, str) else value
    if issubclass(hint, enum.Enum):
        return lambda value: value if isinstance(value, hint) else hint(value)
    if is_model(hint):
        return lambda value: hint.model_validate(value) if isinstance(value, dict) else value
    if not dataclasses.is_dataclass(hint):
        return None
    conversions = {name: conversion_for(each, depth + 1) for name, each in class_hints(hint).items()}

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


def _each_value(of_value):
    if of_value is None:
        return None
    return lambda value: {key: of_value(item) for key, item in value.items()} if isinstance(value, dict) else value


def _each(origin, inside, depth):
    make = origin if origin in (set, frozenset, tuple) else None
    is_uniform = bool(inside) and (origin is not tuple or inside[1:] == (Ellipsis,))
    of_item = conversion_for(inside[0], depth + 1) if is_uniform else None
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
