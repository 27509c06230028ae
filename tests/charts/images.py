"""What the images of the chart have in them, as programs of this machine."""

import shutil
import sys
from pathlib import Path

from app.process.valkey import binary
from tests.k8s.cluster_double.kubelet.process import Programs
from tests.tools import need

POSTGRES = Path(__file__).with_name("postgres_image.py")


def programs() -> Programs:
    """Ours, and those of PostgreSQL's and Valkey's images."""
    binaries = Path(need("postgres")).resolve().parent
    made = Programs.of_this_machine(
        greenloop=(sys.executable, "-m", "app"),
        pg_isready=(str(binaries / "pg_isready"), "-h", "{address}"),
        **{"valkey-server": (shutil.which(binary()) or binary(), "--bind", "{address}")},
    )
    return Programs(made.words, {"postgres": (sys.executable, "-I", str(POSTGRES), str(binaries), "{address}")})
