"""Who we are on GitHub, and whom we listen to."""

from dataclasses import dataclass

from github.webhooks.outcomes import Actor


@dataclass(frozen=True, slots=True)
class Me:
    """Who we are, and whom and what we listen to.

    `bot_id` is the user id of `<slug>[bot]` (0: not known); `handles` the names that address us without "@" (default:
    the slug); `label` the one that asks; `allowed_bots` the logins, with or without "[bot]", that may ask.
    """

    app_id: int
    slug: str
    bot_id: int = 0
    handles: tuple[str, ...] = ()
    label: str = "greenloop"
    allowed_bots: frozenset[str] = frozenset()

    @property
    def names(self) -> tuple[str, ...]:
        return self.handles or (self.slug,)

    @property
    def login(self) -> str:
        return f"{self.slug}[bot]"

    def is_me(self, actor: Actor | None) -> bool:
        """Whether `actor` is our own bot user."""
        if actor is None:
            return False
        return (self.bot_id != 0 and actor.id == self.bot_id) or actor.login.lower() == self.login.lower()

    def may_ask(self, actor: Actor) -> bool:
        """Whether `actor` is a person, or a bot on the allow-list."""
        bare = actor.login.lower().removesuffix("[bot]")
        return not actor.bot or bare in {name.lower().removesuffix("[bot]") for name in self.allowed_bots}
