"""Looking for files where processes are at work: in contrast to `Path.rglob`, what vanishes meanwhile is no error."""

import os
from pathlib import Path


def files(folder: Path, name: str | None = None) -> list[Path]:
    """All files below `folder`, or those of that name."""
    found = (Path(spot, each) for spot, _, names in os.walk(folder) for each in names)
    return [path for path in found if name in (None, path.name)]
