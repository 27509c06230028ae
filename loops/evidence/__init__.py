"""Evidence: what a failing check left behind, distilled for the agent.

`distill` is for job logs, `distill_check` for check runs and statuses, `merge` for the jobs of a matrix.
"""

from loops.evidence.check import distill_check
from loops.evidence.distill import BUDGET, distill
from loops.evidence.model import Annotation, Diagnostic, Distilled, Evidence, Kind
from loops.evidence.telling.merge import merge

__all__ = ["BUDGET", "Annotation", "Diagnostic", "Distilled", "Evidence", "Kind", "distill", "distill_check", "merge"]
