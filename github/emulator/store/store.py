"""The whole memory of the local GitHub, with the look-ups that need no thought."""

from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from github.emulator.clock import Clock
from github.emulator.git.signing import Signer
from github.emulator.store.activities import Activity
from github.emulator.store.apps import App, PendingApp
from github.emulator.store.authorizations import PendingAuthorization, UserToken
from github.emulator.store.checks import CheckRun, CheckSuite
from github.emulator.store.comments import Comment
from github.emulator.store.deliveries import Delivery
from github.emulator.store.installations import Installation, InstallationToken
from github.emulator.store.issues import Issue, Pull
from github.emulator.store.notifications import Notification
from github.emulator.store.reactions import Reaction
from github.emulator.store.repositories import Label, Repository, Ruleset
from github.emulator.store.reviews import Review, ReviewComment, Thread
from github.emulator.store.runs import Artifact, Job, Run, Workflow
from github.emulator.store.statuses import Status
from github.emulator.store.table import Row, Table
from github.emulator.store.users import User


@dataclass
class Origins:
    """The URLs under which it is served, known once the server listens. `logs` is the second origin, of log blobs."""

    web: str = ""
    api: str = ""
    logs: str = ""


class _Counter(Table[Row]):
    """A series of ids without rows of its own."""


class Store:
    """One table a noun; and what every row is shown and stamped with: origins, clock, the web side's signing key.

    `folder` holds the bare repositories. Ids start high and apart, so that a mixed-up id is not found instead of found
    wrongly.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.clock = Clock()
        self.origins = Origins()
        self.signer = Signer()
        self.users: Table[User] = Table(41_000_000)
        self.apps: Table[App] = Table(410_000)
        self.installations: Table[Installation] = Table(52_000_000)
        self.repositories: Table[Repository] = Table(610_000_000)
        self.issues: Table[Issue] = Table(2_100_000_000)
        self.pulls: Table[Pull] = Table(1_700_000_000)
        self.comments: Table[Comment] = Table(1_500_000_000)
        self.reviews: Table[Review] = Table(1_900_000_000)
        self.review_comments: Table[ReviewComment] = Table(1_400_000_000)
        self.threads: Table[Thread] = Table(70_000_000)
        self.reactions: Table[Reaction] = Table(230_000_000)
        self.labels: Table[Label] = Table(5_100_000_000)
        self.rulesets: Table[Ruleset] = Table(900_000)
        self.suites: Table[CheckSuite] = Table(22_000_000_000)
        self.check_runs: Table[CheckRun] = Table(25_000_000_000)
        self.statuses: Table[Status] = Table(30_000_000_000)
        self.workflows: Table[Workflow] = Table(87_000_000)
        self.runs: Table[Run] = Table(9_200_000_000)
        self.jobs: Table[Job] = Table(25_000_000_000)
        self.artifacts: Table[Artifact] = Table(3_300_000_000)
        self.deliveries: Table[Delivery] = Table(160_000_000_000)
        self.notifications: Table[Notification] = Table(7_300_000_000)
        self.activities: Table[Activity] = Table(20_000_000_000)
        self.hooks: _Counter = _Counter(480_000_000)
        self.tokens: dict[str, InstallationToken] = {}
        self.authorizations: dict[str, PendingAuthorization] = {}
        self.user_tokens: dict[str, UserToken] = {}
        self.manifests: dict[str, PendingApp] = {}
        self.renames: dict[str, int] = {}

    def now(self) -> datetime:
        return self.clock.now()

    def user(self, login: str) -> User | None:
        return next((user for user in self.users if user.login.lower() == login.lower()), None)

    def user_by_token(self, token: str) -> User | None:
        return next((user for user in self.users if user.token and user.token == token), None)

    def repository(self, full_name: str) -> Repository | None:
        """The repository of that name today. Names compare without case."""
        wanted = full_name.lower()
        return next((repo for repo in self.repositories if repo.full_name.lower() == wanted), None)

    def issue(self, repository: Repository, number: int) -> Issue | None:
        return next((i for i in self.issues if i.repository is repository and i.number == number), None)

    def issues_of(self, repository: Repository) -> list[Issue]:
        return [i for i in self.issues if i.repository is repository and not i.deleted]

    def pulls_of(self, repository: Repository) -> list[Pull]:
        return [p for p in self.pulls if p.repository is repository]

    def comments_of(self, issue: Issue) -> list[Comment]:
        return [c for c in self.comments if c.issue is issue]

    def review_comments_of(self, pull: Pull) -> list[ReviewComment]:
        return [c for c in self.review_comments if c.pull is pull]

    def suites_of(self, repository: Repository, sha: str) -> list[CheckSuite]:
        return [s for s in self.suites if s.repository is repository and s.head_sha == sha]

    def check_runs_of(self, suite: CheckSuite) -> list[CheckRun]:
        return [r for r in self.check_runs if r.suite is suite]

    def jobs_of(self, run: Run, attempt: int | None = None) -> list[Job]:
        return [j for j in self.jobs if j.run is run and attempt in (None, j.attempt)]

    def forget_run(self, run: Run) -> None:
        """Drop a run with its jobs and artifacts; its checks stay."""
        for job in self.jobs_of(run):
            self.jobs.remove(job)
        for artifact in self.artifacts:
            if artifact.run is run:
                self.artifacts.remove(artifact)
        self.runs.remove(run)

    def jobs_at(self, run: Run, attempt: int) -> list[Job]:
        """The jobs of an attempt as a whole: its own, and those that it took over from the attempts before."""
        past = [job for job in self.jobs_of(run) if job.attempt <= attempt]
        newest: dict[str, int] = {}
        for job in past:
            newest[job.key] = max(job.attempt, newest.get(job.key, 0))
        return [
            job
            for job in past
            if job.attempt == newest[job.key] and not (attempt == run.attempt and job.check.superseded)
        ]

    def statuses_of(self, repository: Repository, sha: str) -> list[Status]:
        """Newest first."""
        return [s for s in self.statuses if s.repository is repository and s.sha == sha][::-1]

    def installation_on(self, app: App, repository: Repository) -> Installation | None:
        """The App's installation that reaches the repository, suspended or not."""
        for row in self.installations:
            reaches = row.selected is None or repository.id in row.selected
            if row.app is app and row.account is repository.owner and not row.deleted and reaches:
                return row
        return None

    def repositories_of(self, installation: Installation) -> list[Repository]:
        return [r for r in self.repositories if self.installation_on(installation.app, r) is installation]
