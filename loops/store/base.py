"""What every table is built on: the types that Python's types are stored as."""

from typing import Any, ClassVar

from sqlalchemy import JSON, BigInteger, Boolean, Double, Integer, LargeBinary, Text
from sqlalchemy.orm import DeclarativeBase

from loops.store.states import EnumText, Origin, PullState, SessionStatus, SubjectKind, Trigger, TurnKind, TurnStatus

Key = BigInteger().with_variant(Integer, "sqlite")


class Base(DeclarativeBase):
    """All tables. Integers are 64 bits wide, as GitHub's ids are; times are seconds since 1970."""

    type_annotation_map: ClassVar[dict[Any, Any]] = {
        int: BigInteger,
        float: Double,
        bool: Boolean,
        str: Text,
        bytes: LargeBinary,
        dict[str, Any]: JSON,
        list[Any]: JSON,
        **{kind: EnumText(kind, 16) for kind in (SessionStatus, TurnStatus, TurnKind, SubjectKind, PullState, Origin)},
        Trigger: EnumText(Trigger, 32),
    }
