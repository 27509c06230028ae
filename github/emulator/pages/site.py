"""The pages: repositories, issues, pull requests, commits, runs and check runs; and what a person does on them."""

from collections.abc import Awaitable, Callable
from typing import Any

from starlette.convertors import Convertor, register_url_convertor
from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.routing import Route

from github.emulator.acts import checks, comments
from github.emulator.git import commits, diff
from github.emulator.git.repository import EMPTY_TREE
from github.emulator.hub import Hub
from github.emulator.pages.forms import fields
from github.emulator.pages.render import page
from github.emulator.rules import merging, rollup
from github.emulator.store.issues import Issue
from github.emulator.store.repositories import Repository
from github.emulator.views import issues as issue_views
from github.emulator.views import pulls as pull_views

Endpoint = Callable[[Request], Awaitable[Response]]


class _Owner(Convertor[str]):
    """A login: whatever is no root of the API."""

    regex = (
        r"(?!(?:repos|repositories|app|apps|applications|login|users|user|orgs|installation|app-manifests|api|graphql|settings|_local"
        r"|rate_limit|search|meta|avatars)(?:/|$))[^/]+"
    )

    def convert(self, value: str) -> str:
        return value

    def to_string(self, value: str) -> str:
        return value


register_url_convertor("owner", _Owner())


class Missing(Exception):
    """There is no such page."""


class Site:
    """The pages of one local GitHub."""

    def __init__(self, hub: Hub) -> None:
        self._hub = hub

    def routes(self) -> list[Route]:
        repository = "/{owner:owner}/{repo}"
        gets: dict[str, Callable[[Request], Response]] = {
            "/": self.home,
            repository: self.repository,
            f"{repository}/issues/{{number:int}}": self.issue,
            f"{repository}/pull/{{number:int}}": self.issue,
            f"{repository}/pull/{{number:int}}/files": self.issue,
            f"{repository}/commit/{{sha}}": self.commit,
            f"{repository}/runs/{{check:int}}": self.check,
            f"{repository}/actions/runs/{{run:int}}": self.run,
            f"{repository}/actions/runs/{{run:int}}/job/{{check:int}}": self.check,
        }
        return [
            *[Route(path, self._safe(act), methods=["GET"]) for path, act in gets.items()],
            Route(f"{repository}/issues/{{number:int}}/comments", self.comment, methods=["POST"]),
            Route(f"{repository}/runs/{{check:int}}/actions", self.press, methods=["POST"]),
        ]

    def _safe(self, act: Callable[[Request], Response]) -> Endpoint:
        async def endpoint(request: Request) -> Response:
            try:
                return act(request)
            except Missing:
                return page("missing", 404, path=request.url.path)

        return endpoint

    # what is meant

    def _repository(self, request: Request) -> Repository:
        found = self._hub.store.repository(f"{request.path_params['owner']}/{request.path_params['repo']}")
        if found is None:
            raise Missing
        return found

    def _issue(self, request: Request) -> Issue:
        found = self._hub.store.issue(self._repository(request), request.path_params["number"])
        if found is None or found.deleted:
            raise Missing
        return found

    # pages

    def home(self, request: Request) -> Response:
        return page("home", repositories=list(self._hub.store.repositories))

    def repository(self, request: Request) -> Response:
        row, store = self._repository(request), self._hub.store
        head = row.git.resolve(row.default_branch)
        runs = [run for run in store.runs if run.repository is row][::-1][:50]
        tree = row.git.tree(head) if head else []
        issues = store.issues_of(row)[::-1]
        return page("repository", repository=row, head=head, tree=tree, issues=issues, runs=runs)

    def issue(self, request: Request) -> Response:
        row, hub = self._issue(request), self._hub
        store = hub.store
        values: dict[str, Any] = {
            "repository": row.repository,
            "issue": row,
            "comments": store.comments_of(row),
            "people": [user for user in store.users if user.type == "User" and row.repository.role_of(user) != "none"],
            "pull": row.pull,
            "busy": hub.ci.busy,
        }
        if row.pull is None:
            return page("issue", **values)
        pull, git = row.pull, row.repository.git
        shas = git.shas(pull_views.span(pull), 250)
        values |= {
            "commits": commits.read_many(git, shas) if shas else [],
            "files": diff.changes(git, pull_views.merge_base(pull), pull.head_sha),
            "checks": rollup.latest_check_runs(hub.store, row.repository, pull.head_sha),
            "statuses": rollup.latest_statuses(hub.store, row.repository, pull.head_sha),
            "reviews": [review for review in store.reviews if review.pull is pull and review.state != "PENDING"],
            "line_comments": store.review_comments_of(pull),
            "mergeable": merging.mergeable_state(hub.store, pull),
        }
        return page("pull", **values)

    def commit(self, request: Request) -> Response:
        row = self._repository(request)
        sha = row.git.resolve(request.path_params["sha"])
        if sha is None:
            raise Missing
        found = commits.read(row.git, sha)
        files = diff.changes(row.git, found.parents[0] if found.parents else EMPTY_TREE, sha)
        checks_now = rollup.latest_check_runs(self._hub.store, row, sha)
        return page("commit", repository=row, commit=found, files=files, checks=checks_now)

    def check(self, request: Request) -> Response:
        row, store = self._repository(request), self._hub.store
        found = store.check_runs.get(request.path_params["check"])
        if found is None or found.suite.repository is not row:
            raise Missing
        job = store.jobs.get(found.job_id) if found.job_id is not None else None
        people = [user for user in store.users if user.type == "User" and row.allows(user, "write")]
        running = found.status != "completed"
        actions = [] if running else found.actions
        return page("check", repository=row, check=found, job=job, people=people, busy=running, actions=actions)

    def run(self, request: Request) -> Response:
        row, store = self._repository(request), self._hub.store
        found = store.runs.get(request.path_params["run"])
        if found is None or found.repository is not row:
            raise Missing
        jobs = store.jobs_at(found, found.attempt)
        return page("run", repository=row, run=found, jobs=jobs, busy=found.status != "completed")

    # what a person does

    async def comment(self, request: Request) -> Response:
        """Comment as the person chosen in the form."""
        form = await fields(request, self._hub.store.origins.web)
        try:
            row = self._issue(request)
        except Missing:
            return page("missing", 404, path=request.url.path)
        user = self._hub.store.user(form.get("user", ""))
        if user is None or user.type != "User" or not form.get("body", "").strip():
            return PlainTextResponse("choose a person and write something\n", 422)
        made = comments.created(self._hub.forge, row, user, form["body"].replace("\r\n", "\n"))
        return RedirectResponse(f"{issue_views.html_url(self._hub.store, row)}#issuecomment-{made.id}", 303)

    async def press(self, request: Request) -> Response:
        """Press a button of a check run as the person chosen."""
        form = await fields(request, self._hub.store.origins.web)
        found = self._hub.store.check_runs.get(request.path_params["check"])
        user = self._hub.store.user(form.get("user", ""))
        if found is None or user is None:
            return page("missing", 404, path=request.url.path)
        try:
            checks.button_pressed(self._hub.forge, found, form.get("identifier", ""), user)
        except ValueError as error:
            return PlainTextResponse(f"{error}\n", 422)
        return RedirectResponse(f"{self._hub.store.origins.web}{request.url.path.removesuffix('/actions')}", 303)
