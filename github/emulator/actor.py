"""Who calls: an App, an installation of one, a person, or nobody."""

from dataclasses import dataclass

from github.emulator.store.apps import App
from github.emulator.store.installations import Installation, InstallationToken
from github.emulator.store.users import User


@dataclass(frozen=True)
class Actor:
    """Who calls: `kind` is app (by JWT), client (an App by its client secret), installation, user or anonymous.

    `user` is who things are done as. A person whose token is an App's has that `app`.
    """

    kind: str
    user: User | None = None
    app: App | None = None
    token: InstallationToken | None = None

    @property
    def installation(self) -> Installation | None:
        return self.token.installation if self.token else None

    @property
    def via_app(self) -> App | None:
        return self.app if self.kind == "installation" else None


ANONYMOUS = Actor("anonymous")
