"""The shape of an object, by the models of the official client, which are made from Kubernetes' OpenAPI document.

The words are those of Go's decoder, which names the first value of another type than its field's.
"""

import types
import typing
from collections.abc import Iterator
from typing import Any, NamedTuple

from tests.k8s.cluster_double.objects.errors import bad_request
from tests.k8s.cluster_double.objects.resources import Resource

Object = dict[str, Any]

# Numbers are of 32 bits, but for these.
WIDE = {
    "activeDeadlineSeconds", "deletionGracePeriodSeconds", "expirationSeconds", "fsGroup", "generation",
    "observedGeneration", "runAsGroup", "runAsUser", "seconds", "startingDeadlineSeconds", "supplementalGroups",
    "terminationGracePeriodSeconds", "tolerationSeconds",
}  # fmt: skip
KINDS = ((bool, "bool"), (int, "number"), (float, "number"), (str, "string"), (list, "array"), (dict, "object"))
# Numbers may stand for what is written as text here: quantities.
AMOUNTS = {
    "averageValue", "default", "defaultRequest", "hard", "limits", "max", "maxLimitRequestRatio", "min", "requests",
    "sizeLimit",
}  # fmt: skip


class Place(NamedTuple):
    """A value's place: the struct that has the field, the path in Go's words, the path as people write it."""

    struct: str
    field: str
    shown: str

    @property
    def name(self) -> str:
        return self.field.rpartition(".")[2]

    def below(self, struct: str, name: str) -> "Place":
        return Place(struct, f"{self.field}.{name}".lstrip("."), f"{self.shown}.{name}".lstrip("."))

    def at(self, index: int | str) -> "Place":
        return self._replace(shown=f"{self.shown}[{index}]")


class _Odd(Exception):
    """A value of another type than its field's."""


def check_shape(resource: Resource, item: Object, *, strict: bool) -> list[str]:
    """Refuse wrong types (400). Unknown fields: refused (400) if strict, else returned."""
    from kubernetes.aio.client import models

    prefix = {"autoscaling": "V2"}.get(resource.group, "V1")
    model = getattr(models, prefix + resource.kind, None)
    if model is None:
        return []
    words = f'{resource.kind} in version "{resource.version}" cannot be handled as a {resource.kind}'
    try:
        unknown = [f'unknown field "{path}"' for path in _fields(model, item, Place("", "", ""))]
    except _Odd as odd:
        raise bad_request(f"{words}: {odd}") from odd
    if unknown and strict:
        raise bad_request(f"{words}: strict decoding error: {', '.join(unknown)}")
    return unknown


def _fields(model: Any, item: Object, place: Place) -> Iterator[str]:
    """The paths of unknown fields. Raises _Odd."""
    known = {field.serialization_alias or name: field.annotation for name, field in model.model_fields.items()}
    for name, value in item.items():
        here = place.below(_struct(model), name)
        if name not in known:
            yield here.shown
        elif value is not None:
            yield from _value(known[name], value, here)


def _value(wanted: Any, value: Any, place: Place) -> Iterator[str]:
    wanted = _plain(wanted)
    if isinstance(wanted, tuple):
        if not any(_fits(each, value) for each in wanted):
            number = isinstance(value, float)
            raise _odd(value, place, "int32" if number else _named(wanted[-1], place), value if number else None)
        return
    origin = typing.get_origin(wanted)
    if origin is list:
        if not isinstance(value, list):
            raise _odd(value, place, _named(wanted, place))
        for at, each in enumerate(value):
            if each is not None:
                yield from _value(typing.get_args(wanted)[0], each, place.at(at))
    elif origin is dict:
        if not isinstance(value, dict):
            raise _odd(value, place, _named(wanted, place))
        for key, each in value.items():
            if each is not None:
                yield from _value(typing.get_args(wanted)[1], each, place.at(key))
    elif hasattr(wanted, "model_fields"):
        if not isinstance(value, dict):
            raise _odd(value, place, _named(wanted, place))
        yield from _fields(wanted, value, place)
    elif not _fits(wanted, value) and not (_is_number(value) and place.name in AMOUNTS):
        raise _odd(value, place, _named(wanted, place), value if isinstance(value, float) else None)


def _plain(wanted: Any) -> Any:
    """The type without its wrapping: without None and what pydantic adds; a tuple where several will do."""
    origin = typing.get_origin(wanted)
    if origin is typing.Annotated:
        return _plain(typing.get_args(wanted)[0])
    if origin in (typing.Union, types.UnionType):
        inner = [_plain(each) for each in typing.get_args(wanted) if each is not type(None)]
        if bytes in inner:
            return bytes
        return inner[0] if len(inner) == 1 else tuple(inner)
    return wanted


def _fits(wanted: Any, value: Any) -> bool:
    if wanted in (str, bytes):
        return isinstance(value, str)
    if wanted is bool:
        return isinstance(value, bool)
    if wanted is int:
        return isinstance(value, int) and not isinstance(value, bool)
    if wanted is float:
        return _is_number(value)
    return True


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _named(wanted: Any, place: Place) -> str:
    """A type as Go names it."""
    wanted = _plain(wanted)
    origin = typing.get_origin(wanted)
    if origin is list:
        return "[]" + _named(typing.get_args(wanted)[0], place)
    if origin is dict:
        return "map[string]" + _named(typing.get_args(wanted)[1], place)
    if wanted is int:
        return "int64" if place.name in WIDE else "int32"
    if hasattr(wanted, "model_fields"):
        return f"v{'2' if wanted.__name__.startswith('V2') else '1'}.{_struct(wanted)}"
    return {bool: "bool", bytes: "[]uint8", float: "float64"}.get(wanted, "string")


def _struct(model: Any) -> str:
    return str(model.__name__).removeprefix("V1").removeprefix("V2")


def _odd(value: Any, place: Place, wanted: str, shown: float | None = None) -> _Odd:
    kind = next(name for known, name in KINDS if isinstance(value, known))
    what = f"{kind} {shown}" if shown is not None else kind
    return _Odd(f"json: cannot unmarshal {what} into Go struct field {place.struct}.{place.field} of type {wanted}")
