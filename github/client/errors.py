"""What can go wrong between Greenloop and GitHub, one class for each thing a caller does differently about it.

Every message names the request, what GitHub said and the way out. None of them ever holds a token.
"""

from dataclasses import dataclass


class GitHubError(Exception):
    """The base of all of them. `request` is like "POST /repos/o/r/git/refs"; `status` the HTTP status or None.

    `request_id` is GitHub's own header, where there was an answer.
    """

    def __init__(self, message: str, *, request: str = "", status: int | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.request = request
        self.status = status
        self.request_id = ""


class Unreachable(GitHubError):
    """No answer: connection refused, DNS, TLS or a timeout. A write may or may not have happened."""


class ServerFault(GitHubError):
    """GitHub answered 5xx. A write may or may not have happened."""


class UnreadableAnswer(GitHubError):
    """A 2xx whose body is not what the API promises, for example a proxy's login page."""


class RateLimited(GitHubError):
    """A primary or secondary limit. `retry_at` is the Unix time before which nothing may be sent."""

    def __init__(
        self, message: str, *, retry_at: float, secondary: bool, request: str = "", status: int | None = None
    ) -> None:
        super().__init__(message, request=request, status=status)
        self.retry_at = retry_at
        self.secondary = secondary


class Paced(RateLimited):
    """Our own refusal, before any request: GitHub would count this creation of content as one too many."""


class Unauthorized(GitHubError):
    """401: the App's key, id or token is refused, also after the seconds that a fresh token is allowed."""


class Forbidden(GitHubError):
    """403 for a reason that none of the subclasses names."""


class PermissionMissing(Forbidden):
    """403 or 422: the App, or the token asked for, lacks a permission. `needed` is GitHub's own list, or empty."""

    def __init__(self, message: str, *, needed: str = "", request: str = "", status: int | None = None) -> None:
        super().__init__(message, request=request, status=status)
        self.needed = needed


class WorkflowsPermissionMissing(PermissionMissing):
    """The commit touches `.github/workflows/` and the App has no `workflows: write`."""


class InstallationSuspended(Forbidden):
    """The account suspended the App: no API and no webhooks until it is unsuspended."""


class Locked(Forbidden):
    """The conversation is locked, and an App may not speak there (renovate#6215)."""


class RepositoryArchived(Forbidden):
    """The repository is archived, so it is read-only."""


class NotFound(GitHubError):
    """404: not there, not there yet (what was made a moment ago), or not visible to the installation."""


class AnswerTooLarge(GitHubError):
    """406: a diff of more than 20,000 lines or 300 files, which the API does not make."""


class Gone(GitHubError):
    """410: deleted issue, issues switched off, or a log past its retention."""


class Conflict(GitHubError):
    """409: an empty repository, a moved head, or a merge that does not apply."""


class EmptyRepository(Conflict):
    """409 "Git Repository is empty": there is no commit to build on."""


@dataclass(frozen=True, slots=True)
class FieldError:
    """One entry of a 422: `code` is missing, missing_field, invalid, already_exists, unprocessable or custom."""

    resource: str
    field: str
    code: str
    message: str


class Invalid(GitHubError):
    """422: GitHub understood and refused. `errors` holds its reasons."""

    def __init__(
        self, message: str, *, errors: tuple[FieldError, ...] = (), request: str = "", status: int | None = None
    ) -> None:
        super().__init__(message, request=request, status=status)
        self.errors = errors


class AlreadyExists(Invalid):
    """422: the ref, the pull request or the label is there already."""


class NotVisibleYet(Invalid):
    """422: a commit, a tree or a ref that the request names is not there. GitHub is eventually consistent: right after
    one was made this passes within seconds (octokit.rb#622, PyGithub#2759, rest-api-description#4887)."""


class NotFastForward(Invalid):
    """422 on a ref: somebody else's commit is in the way, and it is never overwritten."""


class RuleViolation(Invalid):
    """A ruleset or a classic branch protection refuses the push. `rule` is GitHub's sentence."""


class RefusedBranch(GitHubError):
    """Our own refusal, before any request: the default branch, a protected one, or a name Git would not take."""
