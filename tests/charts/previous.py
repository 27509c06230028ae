"""What an upgrade comes from."""

from pathlib import Path

import yaml

from tests.charts.render import CHART


def previous_chart(folder: Path) -> Path:
    """A chart as the one before: an older version, without the objects that came later."""
    for file in CHART.rglob("*"):
        if file.is_file():
            target = folder / file.relative_to(CHART)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(file.read_bytes())
    about = yaml.safe_load((folder / "Chart.yaml").read_text()) | {"version": "0.0.9"}
    (folder / "Chart.yaml").write_text(yaml.safe_dump(about))
    (folder / "templates" / "networkpolicies.yaml").unlink()
    return folder
