"""Guards on what a turn wants to publish. Ask `examine`; it answers with refusals and notes for people."""

from loops.guards.examine import examine
from loops.guards.model import Finding, Findings, Proposal, sentences

__all__ = ["Finding", "Findings", "Proposal", "examine", "sentences"]
