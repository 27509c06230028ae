"""What is red on the base commit too: failures that our work did not make."""

from collections.abc import Sequence

from github.checks import state
from github.checks.model import FAILING, Check, Kind
from github.client.errors import GitHubError
from github.client.repository import RepositoryHandle
from github.repositories import queries
from loops.checks.collect import MOST_CHECKS, collect
from loops.checks.distiller import distiller
from loops.checks.own_commits import own_commits
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
        found = [
            check
            for base in sorted(await _bases(loop, repo, session) - {"", session.head_sha})
            if await _may_be_red(repo, base, red)
            for check in (await state.snapshot(repo, base, own_app_id=loop.me.app_id, max_age=queries.STEP)).checks
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


async def _may_be_red(repo: RepositoryHandle, base: str, red: Sequence[Check]) -> bool:
    """Whether anything that failed on the commit `base` has the name of a check that is `red` now."""
    told = await state.head_answer(repo, base)
    names = {check.name for check in red if check.kind in (Kind.JOB, Kind.CHECK_RUN)}
    failed = {each.get("name") for each in told.check_runs if each.get("conclusion") in FAILING}
    return bool(names & failed) or any(check.kind not in (Kind.JOB, Kind.CHECK_RUN) for check in red)


async def _bases(loop: Loop, repo: RepositoryHandle, session: Session) -> set[str]:
    """Where the branch left its base, which we know of commits of our own, and where the base is now."""
    branch, head = session.base_branch or "", session.head_sha or ""
    async with loop.database.read() as tx:
        left = (await own_commits(tx, session, head)).base
    if left is not None:
        return {left, await queries.head(repo, branch, max_age=queries.STEP) or ""}
    compared = await queries.compare(repo, branch, head)
    return {str((compared.get(each) or {}).get("sha") or "") for each in ("merge_base_commit", "base_commit")}
