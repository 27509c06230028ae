"""How the loop behaves: the part of the settings that `loops` reads. `app.settings.Settings` adds the process's own."""

from pathlib import Path
from typing import Annotated, Literal
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field, field_validator

from loops.runtimes.prices import price_of, table_of
from loops.runtimes.profiles import canonical
from loops.runtimes.registry import UnknownRuntimeError, get
from loops.runtimes.spec import Price

BoxIsolation = Literal["repository", "person", "session"]
NightHour = Annotated[int, Field(ge=0, le=23)]


class LoopOptions(BaseModel):
    """Frozen options of the loop. Times are seconds, sizes bytes, money US dollars."""

    model_config = ConfigDict(frozen=True)

    handle: str = Field(
        "greenloop", description="The mention that wakes us, without the @; a GitHub App's slug as a rule."
    )
    label: str = Field("greenloop", description="The label that starts a session on an issue.")
    public_url: str = Field(
        "http://127.0.0.1:8080", description="Where people reach the pages; links in comments use it."
    )
    branch_prefix: str = Field("greenloop/", description="Every branch we make starts with it.")

    runtime: str = Field(
        "",
        description="The runtime of a turn for which neither person nor repository names one; empty: the first that "
        "the account runs.",
    )
    command: str = Field("", description="The program of the `command` runtime, split like a shell line; empty: none.")
    cap: int = Field(
        3, ge=0, le=20, description="Attempts Greenloop starts by itself. Three: later ones rarely turn green."
    )
    overload_seconds: float = Field(
        60,
        gt=0,
        description="Pause before a turn is tried again that its model's provider refused for load; it doubles each "
        "time, and the provider's own time wins.",
    )
    turn_seconds: float = Field(1800, gt=0, description="Wall clock of one turn. Half an hour covers long test suites.")
    turn_steps: int = Field(200, ge=1, description="Steps of the agent in one turn; a runaway shows here first.")
    output_bytes: int = Field(
        20_000_000, ge=1000, description="Agent output kept of one turn; the middle is dropped beyond."
    )
    changed_files: int = Field(300, ge=1, description="Files one turn may change: more is never reviewed by a person.")
    changed_bytes: int = Field(
        20_000_000, ge=1, description="Bytes one turn may change; bounds what publishing uploads."
    )
    file_bytes: int = Field(
        5_000_000, ge=1, description="Size of one changed file. GitHub warns above 50 MB, people sooner."
    )
    turn_tokens: int = Field(5_000_000, ge=1, description="Tokens of one turn (input, cached and output).")
    session_tokens: int = Field(20_000_000, ge=1, description="Tokens of one session.")
    turn_cost: float = Field(10.0, gt=0, description="Cost of one turn.")
    session_cost: float = Field(40.0, gt=0, description="Cost of one session.")
    session_steps: int = Field(1000, ge=1, description="Steps of the agent in all turns of one session.")
    session_seconds: float = Field(14_400, gt=0, description="Time of agents at work in one session: four hours.")
    session_changed_files: int = Field(1000, ge=1, description="Files that all turns of one session may change.")
    prices: dict[str, dict[str, float]] = Field(
        {},
        description='Prices for CLIs that tell no cost, as JSON: {"MODEL": {"input": 1, "cached": 0.1, "output": 4}}, '
        "US dollars for a million tokens. Each replaces, or adds to, a list price in loops/runtimes/prices.py.",
    )

    @field_validator("public_url", "service_url", "github_api_url", "github_web_url", check_fields=False)
    @classmethod
    def _urls_are_urls(cls, url: str) -> str:
        if url and not (urlsplit(url).scheme in ("http", "https") and urlsplit(url).hostname):
            raise ValueError(f"{url!r} is no http(s) URL")
        return url

    @field_validator("runtime")
    @classmethod
    def _runtime_is_known(cls, runtime: str) -> str:
        try:
            if runtime:
                get(canonical(runtime)[0])
        except UnknownRuntimeError as error:
            raise ValueError(str(error)) from None
        return runtime

    @field_validator("prices")
    @classmethod
    def _prices_are_prices(cls, prices: dict[str, dict[str, float]]) -> dict[str, dict[str, float]]:
        table_of(prices)
        return prices

    @property
    def told_of(self) -> dict[str, bool]:
        """`Database`'s `info`: whether others are told of its sessions (`loops.store.outbox`)."""
        return {"tells": self.hooks_file is not None}

    def price_of(self, model: str | None) -> Price | None:
        """The price of a model; None where nobody knows it."""
        return price_of(model or "", table_of(self.prices))

    no_right_answers: int = Field(
        20,
        ge=0,
        description="Answers an hour, in one installation, to people who may not ask; beyond, and with 0, a reaction.",
    )
    running_sessions: int = Field(
        3, ge=1, description="Turns of one installation that run at once; others wait in line."
    )
    settle_seconds: int = Field(20, ge=0, le=600, description="Quiet time after a check's last change; else too early.")
    longest_wait_minutes: int = Field(
        120, ge=1, le=1440, description="How long checks are waited for before we say so."
    )
    reruns: int = Field(1, ge=0, le=5, description="Times that faults of the machinery are run again, per commit.")
    poll_seconds: float = Field(
        60,
        gt=0,
        description="Seconds until a waiting head is looked at when no webhook arrives; they grow to ten minutes.",
    )
    missed_seconds: float = Field(
        300,
        gt=0,
        description="How often GitHub's log is walked for webhooks that we missed (one request each hundred).",
    )
    box_silence: float = Field(
        60, gt=0, description="A box not heard of for this long is looked up before we conclude."
    )
    work_seconds: float = Field(
        30,
        ge=0,
        description="A box tells what its turn has changed so far at most this often, in seconds, for the case that it "
        "is lost; 0: never.",
    )
    box_start_seconds: float = Field(
        300, gt=0, description="How long a box may take to come for its turn (image pull)."
    )
    box_idle_minutes: float = Field(
        30, gt=0, description="A box without a turn for this long is stopped; its home stays."
    )
    box_home_days: float = Field(14, gt=0, description="A home without a turn for this long is deleted.")
    box_isolation: BoxIsolation = Field(
        "repository",
        description="What a box is for: a person's work in one repository (repository), in all of them (person: what "
        "one repository's code leaves in the home, that of another finds), or in one session (session: nothing is kept "
        "for the next, and box and home end with it).",
    )
    box_limit: int = Field(50, ge=1, description="Boxes that may be up at once, spares included; others wait in line.")
    box_limit_installation: int = Field(10, ge=1, description="Boxes of one installation that may be up at once.")
    box_warm: int = Field(0, ge=0, description="Spare boxes kept up, which first turns take instead of waiting.")
    box_warm_night: int | None = Field(
        None, ge=0, description="Spare boxes kept up in the hours of box_night; none given: as many as by day."
    )
    box_night: tuple[NightHour, NightHour] = Field(
        (20, 6), description="When the night begins and ends, in hours of UTC: [20, 6] is from 20:00 to 6:00."
    )
    box_room_minutes: float = Field(
        60, gt=0, description="How long a turn waits for a cluster without room for its box before that is an error."
    )
    box_token_hours: float = Field(
        6, gt=0, description="A box that stays up gets a new token after this long; one is good for twice as long."
    )
    evidence_bytes: int = Field(16_000, ge=1000, description="Budget of the excerpt of one failing check in a prompt.")
    box_logins: bool = Field(
        False,
        description="Put the login files of subscriptions into boxes; else the model gateway holds and refreshes them.",
    )
    hooks_file: Path | None = Field(
        None, description="JSON file that says whom to tell of sessions, by webhooks of ours; docs/notifications.md."
    )
    keep_deliveries_days: float = Field(
        14,
        ge=8,
        description="Webhooks that were decided are kept this long. GitHub's own log, with which they are compared, "
        "goes back up to seven days.",
    )
    keep_evidence_days: float = Field(
        30, gt=0, description="Excerpts of red checks are kept this long after their session ended."
    )
    keep_events_days: float = Field(
        180,
        gt=0,
        description="What happened in a session, its diff and its turns' reports, are kept this long after it ended; "
        "who asked what, how it ended and what it cost stay.",
    )
    lease_seconds: float = Field(10, gt=1, description="A worker that died lets go of its session after this long.")
