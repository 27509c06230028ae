"""Pull requests."""

from github.emulator.acts import issues as issue_acts
from github.emulator.acts import merges, pushes
from github.emulator.acts import pulls as acts
from github.emulator.acts.pushes import Merging
from github.emulator.api.access import holds
from github.emulator.api.call import Answer, Call, Listing, diff_answer
from github.emulator.api.route import Route
from github.emulator.errors import Refusal, custom, invalid, not_found
from github.emulator.git import commits, diff, refs
from github.emulator.git.refs import Update
from github.emulator.merge_queue import has_queue
from github.emulator.rest.code.refs import merge_commit
from github.emulator.rest.threads.issues import find as find_issue
from github.emulator.rules import merging
from github.emulator.store.issues import Pull
from github.emulator.store.repositories import Repository
from github.emulator.views import commits as commit_views
from github.emulator.views import pulls as views

PULLS = "/repos/{owner}/{repo}/pulls"
PULL = f"{PULLS}/{{pull_number}}"
READ, WRITE = "pull_requests:read", "pull_requests:write"
MAX_FILES, MAX_COMMITS = 3000, 250


def find(call: Call) -> Pull:
    """The pull request of the path; an issue of that number is none."""
    issue = call.store.issue(call.repository, call.number("pull_number"))
    if issue is None or issue.pull is None:
        raise not_found()
    return issue.pull


def listed(call: Call) -> Listing:
    """`head` counts only as `owner:branch`; anything else filters nothing."""
    query, store = call.query, call.store
    state, head, base = query.get("state", "open"), query.get("head", ""), query.get("base")
    rows = [p for p in store.pulls_of(call.repository) if state in ("all", p.issue.state)]
    if ":" in head:
        rows = [p for p in rows if p.head_label.lower() == head.lower()]
    if base:
        rows = [p for p in rows if p.base_ref == base]
    key = query.get("sort", "created")
    rows.sort(key=lambda p: (p.issue.updated_at if key == "updated" else p.issue.created_at, p.number))
    default = "desc" if key == "created" else "asc"
    if query.get("direction", default) == "desc":
        rows.reverse()
    return Listing(rows, lambda row: views.simple(call.store, row))


def _head(call: Call) -> tuple[Repository, str]:
    """The repository and branch of `head`: `branch`, or `owner:branch` of a fork (named by `head_repo` at need)."""
    wanted = call.text("head", "PullRequest")
    owner, colon, branch = wanted.partition(":")
    if not colon:
        return call.repository, wanted
    network = (call.repository, call.repository.parent)
    name = call.get("head_repo")
    for row in call.store.repositories:
        related = row in network or row.parent is call.repository
        if related and row.owner.login.lower() == owner.lower() and name in (None, row.name, row.full_name):
            return row, branch
    raise invalid("PullRequest", "head")


def create(call: Call) -> Answer:
    hub, repository = call.hub, call.repository
    base = call.text("base", "PullRequest")
    head_repository, head = _head(call)
    issue = None
    if call.get("issue") is not None:
        call.params["issue_number"] = str(call.get("issue"))
        issue = find_issue(call)
        title = issue.title
    else:
        title = call.title("PullRequest")
    body = call.checked_body("PullRequest", call.get("body"), required=False)
    _check_ends(call, head_repository, head, base)
    crosses = head_repository is not repository
    modify = call.get("maintainer_can_modify", crosses)
    if crosses and modify and not head_repository.allows(call.actor.user, "write"):
        if call.get("maintainer_can_modify") is not False and call.actor.token is not None:
            raise custom("PullRequest", "fork_collab Fork collab can't be granted by someone without permission")
        modify = False
    draft = bool(call.get("draft", False))
    if draft and not repository.allow_drafts:
        raise Refusal(422, "Draft pull requests are not supported in this repository.")
    pull = acts.opened(
        hub.forge,
        repository,
        call.user,
        title,
        body,
        head_repository,
        head,
        base,
        draft=draft,
        maintainer_can_modify=bool(modify) and crosses,
        via_app=call.actor.via_app,
        issue=issue,
    )
    shown = views.full(hub.store, pull)
    return Answer(201, shown, {"location": shown["url"]})


def _check_ends(call: Call, head_repository: Repository, head: str, base: str) -> None:
    repository, git = call.repository, call.repository.git
    base_sha = refs.sha_of(git, f"refs/heads/{base}")
    if base_sha is None:
        raise invalid("PullRequest", "base")
    head_sha = refs.sha_of(head_repository.git, f"refs/heads/{head}")
    if head_sha is None:
        raise invalid("PullRequest", "head")
    label = f"{head_repository.owner.login}:{head}"
    for pull in call.store.pulls_of(repository):
        if pull.open and pull.base_ref == base and pull.head_repository is head_repository and pull.head_ref == head:
            raise custom("PullRequest", f"A pull request already exists for {label}.")
    git.fetch_object(head_repository.git, head_sha)
    if git.is_ancestor(head_sha, base_sha) or call.ref_lags("pull", head_repository, f"refs/heads/{head}"):
        shown = head if head_repository is repository else label
        raise custom("PullRequest", f"No commits between {base} and {shown}")


def get(call: Call) -> Answer:
    """Mergeability that nobody asked for yet is null, and known the next time."""
    pull = find(call)
    if call.lags("pull_read", pull.id, pull.issue.created_at):
        raise not_found()
    accept = call.headers.get("accept", "")
    if "diff" in accept or "patch" in accept:
        return diff_answer(call, "PullRequest", views.merge_base(pull), pull.head_sha)
    answer = Answer(200, views.full(call.store, pull))
    if pull.open:
        acts.compute_merge(call.store, pull)
    return answer


def update(call: Call) -> Answer:
    """Title, body, state and base. `draft` is silently not one of them: that is a matter of GraphQL."""
    hub, pull, user = call.hub, find(call), call.user
    if call.actor.token is None and pull.issue.user is not user and not call.repository.allows(user, "write"):
        raise Refusal(403, "Must have admin rights to Repository.")
    state = call.get("state")
    if state not in (None, "open", "closed"):
        raise invalid("PullRequest", "state", value=state)
    if call.get("title") is not None:
        call.title("PullRequest")
    body = call.checked_body("PullRequest", call.get("body"), required=False)
    issue_acts.edited(hub.forge, pull.issue, user, call.get("title"), body, "body" in call.body)
    base = call.get("base")
    if base is not None and base != pull.base_ref:
        if refs.sha_of(call.repository.git, f"refs/heads/{base}") is None:
            raise invalid("PullRequest", "base")
        acts.base_changed(hub.forge, pull, base, user)
    if call.get("maintainer_can_modify") is not None:
        pull.maintainer_can_modify = bool(call.get("maintainer_can_modify")) and pull.crosses_repositories
    if state == "closed":
        issue_acts.closed(hub.forge, pull.issue, user)
    if state == "open" and not pull.open:
        _reopen(call, pull)
    return Answer(200, views.full(hub.store, pull))


def _reopen(call: Call, pull: Pull) -> None:
    source = pull.head_repository
    sha = refs.sha_of(source.git, f"refs/heads/{pull.head_ref}") if source else None
    if sha is None or pull.merged_at is not None:
        raise invalid("PullRequest", "state", message="state cannot be changed. The branch is gone or was merged.")
    pull.head_sha = sha
    acts.follow_head(pull)
    issue_acts.reopened(call.forge, pull.issue, call.user)


def files(call: Call) -> Listing:
    pull = find(call)
    rows = diff.changes(call.repository.git, views.merge_base(pull), pull.head_sha)[:MAX_FILES]
    return Listing(rows, lambda row: commit_views.file(call.store, call.repository, row, pull.head_sha))


def pull_commits(call: Call) -> Listing:
    pull, git = find(call), call.repository.git
    shas = git.shas(views.span(pull), MAX_COMMITS)
    return Listing(shas, lambda sha: commit_views.commit(call.store, call.repository, commits.read(git, sha)))


def update_branch(call: Call) -> Answer:
    """Merge the base into the head branch; answered at once, done as if later."""
    pull, user = find(call), call.user
    wanted = call.get("expected_head_sha")
    if wanted is not None and wanted != pull.head_sha:
        raise Refusal(422, "expected head sha didn't match current head ref.")
    source = pull.head_repository
    if source is not call.repository:
        raise Refusal(403, "Resource not accessible by integration" if call.actor.token else "Forbidden")
    if call.actor.token is not None and not holds(call.actor, "contents", "write"):
        raise Refusal(403, "Resource not accessible by integration")
    if call.repository.git.is_ancestor(pull.base_sha, pull.head_sha):
        raise Refusal(422, "There are no new commits on the base branch.")
    message = f"Merge branch '{pull.base_ref}' into {pull.head_ref}"
    made = merge_commit(call, pull.head_sha, pull.base_sha, message)
    if made is None:
        raise Refusal(422, "merge conflict between base and head")
    ref = f"refs/heads/{pull.head_ref}"
    refs.move(call.repository.git, ref, made.sha, pull.head_sha)
    pushes.pushed(call.forge, call.repository, Update(pull.head_sha, made.sha, ref), user)
    return Answer(202, {"message": "Updating pull request branch.", "url": views.simple(call.store, pull)["url"]})


def merge(call: Call) -> Answer:
    pull = find(call)
    if call.get("sha") not in (None, pull.head_sha):
        raise Refusal(409, "Head branch was modified. Review and try the merge again.")
    if has_queue(call.repository, pull.base_ref):
        broken = "Repository rule violations found\n\nChanges must be made through the merge queue\n\n"
        raise Refusal(405, broken)
    acts.compute_merge(call.store, pull)
    state = merging.mergeable_state(call.store, pull)
    if not pull.open or state in ("dirty", "blocked", "draft"):
        raise Refusal(405, "Pull Request is still a draft" if state == "draft" else "Pull Request is not mergeable")
    way = _way(call)
    try:
        merges.check(pull, way)
    except merges.MergeRefused as refused:
        raise Refusal(405, str(refused)) from refused
    sha = merges.merged_onto(call.forge, pull, pull.base_sha, way, call.user)
    if sha is None or sha == pull.base_sha:
        raise Refusal(405, "Pull Request is not mergeable")
    moved = Update(pull.base_sha, sha, f"refs/heads/{pull.base_ref}")
    refs.move(call.repository.git, moved.ref, sha, moved.old)  # what the branch requires, the pull request has met
    pushes.pushed(call.forge, call.repository, moved, call.user, merging=Merging(pull, "pr_merge"))
    return Answer(200, {"sha": sha, "merged": True, "message": "Pull Request successfully merged"})


def _way(call: Call) -> merges.Way:
    method = call.get("merge_method") or "merge"
    if method not in merges.NAMES:
        raise invalid("PullRequest", "merge_method", message=f"merge_method must be one of {', '.join(merges.NAMES)}")
    return merges.Way(method, call.get("commit_title") or None, call.get("commit_message"))


def is_merged(call: Call) -> Answer:
    if find(call).merged_at is None:
        raise not_found()
    return Answer(204, empty=True)


ROUTES = [
    Route("GET", PULLS, listed, READ),
    Route("POST", PULLS, create, WRITE, "read"),
    Route("GET", PULL, get, READ),
    Route("PATCH", PULL, update, WRITE, "read"),
    Route("GET", f"{PULL}/files", files, READ),
    Route("GET", f"{PULL}/commits", pull_commits, READ),
    Route("PUT", f"{PULL}/update-branch", update_branch, WRITE),
    Route("PUT", f"{PULL}/merge", merge, "contents:write"),
    Route("GET", f"{PULL}/merge", is_merged, READ),
]
