"""People who let an App act for them: the code on its way to the App, and the token it becomes."""

from dataclasses import dataclass
from datetime import datetime

from github.emulator.store.apps import App
from github.emulator.store.users import User


@dataclass(eq=False)
class PendingAuthorization:
    """What a person agreed to. `challenge` is the S256 challenge of PKCE, empty without."""

    code: str
    app: App
    user: User
    redirect_uri: str
    challenge: str
    created_at: datetime


@dataclass(eq=False)
class UserToken:
    """A user access token of an App (`ghu_…`): its person's rights, as far as the App's own go."""

    token: str
    app: App
    user: User
    expires_at: datetime
    revoked: bool = False
