"""What one check of `greenloop doctor` found."""

from dataclasses import dataclass
from typing import Literal

Level = Literal["ok", "warn", "fail"]


@dataclass(frozen=True)
class Finding:
    """`mend` says what to do, for everything that is not ok."""

    check: str
    level: Level
    says: str
    mend: str = ""
