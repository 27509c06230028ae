"""What is red on the base commit too: failures that our work did not make."""

from collections.abc import Sequence

from github.checks import state
from github.checks.model import FAILING, Check
from github.client.errors import GitHubError
from github.client.repository import RepositoryHandle
from github.repositories import queries
from loops.checks.collect import MOST_CHECKS, collect
from loops.checks.distiller import distiller
from loops.context import Loop
from loops.secrets.redact import Redactor
from loops.store.states import SubjectKind
from loops.store.tables import Session


async def known_at_base(loop: Loop, repo: RepositoryHandle, session: Session, red: Sequence[Check]) -> frozenset[str]:
    """The fingerprints of the same checks where the branch left its base, and where the base is now: a pull request is
    checked merged with it. Nothing where they are not red there.

    A session about the red base branch itself compares with nothing: repairing it is what it is for.
    """
    if session.base_branch is None or session.head_sha is None or session.subject_kind is SubjectKind.BRANCH:
        return frozenset()
    try:
        compared = await queries.compare(repo, session.base_branch, session.head_sha)
        bases = {str((compared.get(each) or {}).get("sha") or "") for each in ("merge_base_commit", "base_commit")}
        found = [
            check
            for base in sorted(bases - {"", session.head_sha})
            for check in (await state.snapshot(repo, base, own_app_id=loop.me.app_id)).checks
        ]
    except GitHubError:
        return frozenset()  # then every failure counts as ours, which costs an attempt and loses nothing
    lineages = {check.lineage for check in red}
    same = [check for check in found if check.conclusion in FAILING and check.lineage in lineages]
    collected = await collect(
        distiller(loop, repo),
        repo,
        same[:MOST_CHECKS],
        budget=loop.options.evidence_bytes,
        changed_files=(),
        redact=Redactor().text,
    )
    return frozenset(each.distilled.fingerprint for each in collected)
