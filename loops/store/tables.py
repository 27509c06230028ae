"""The tables: the truth. Times are UNIX seconds, keys of GitHub's things are GitHub's numeric ids."""

from typing import Any

from sqlalchemy import ForeignKey, Index, SmallInteger, String, UniqueConstraint, false, text
from sqlalchemy.orm import Mapped, mapped_column

from loops.store.base import Base, Key
from loops.store.states import Lane, Origin, PullState, SessionStatus, SubjectKind, Trigger, TurnKind, TurnStatus

_WAITS = "status = 'new' AND lease_until IS NULL"
_HELD = "lease_until IS NOT NULL"
_ENDED = "completed_at IS NOT NULL"
_OPEN = "status IN ('pending', 'running', 'waiting')"


class Installation(Base):
    """One account that installed the App."""

    __tablename__ = "installations"

    id: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    account_id: Mapped[int]
    account_login: Mapped[str]
    account_type: Mapped[str]
    suspended_at: Mapped[float | None]
    removed_at: Mapped[float | None]
    updated_at: Mapped[float]


class Repository(Base):
    """One repository; `full_name` follows renames and transfers, `id` never changes."""

    __tablename__ = "repositories"

    id: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    installation_id: Mapped[int] = mapped_column(index=True)
    full_name: Mapped[str]
    default_branch: Mapped[str]
    private: Mapped[bool]
    archived: Mapped[bool] = mapped_column(default=False)
    removed_at: Mapped[float | None]
    updated_at: Mapped[float]


class Person(Base):
    """A GitHub user who asked for something."""

    __tablename__ = "people"

    id: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    login: Mapped[str]
    updated_at: Mapped[float]


class Delivery(Base):
    """One webhook, kept from the moment it is acknowledged. `status`: new, done. `decision`: what became of it."""

    __tablename__ = "deliveries"
    __table_args__ = (
        Index(
            "deliveries_due", "lane", "installation_id", "due_at",
            sqlite_where=text(_WAITS), postgresql_where=text(_WAITS),
        ),
        Index("deliveries_leased", "lease_until", sqlite_where=text(_HELD), postgresql_where=text(_HELD)),
    )  # fmt: skip

    guid: Mapped[str] = mapped_column(String(100), primary_key=True)
    event: Mapped[str]
    action: Mapped[str | None]
    installation_id: Mapped[int | None]
    repository_id: Mapped[int | None]
    body: Mapped[bytes | None]
    received_at: Mapped[float] = mapped_column(index=True)
    status: Mapped[str] = mapped_column(String(16), default="new")
    decision: Mapped[str | None]
    reason: Mapped[str | None]
    session_id: Mapped[int | None]
    tries: Mapped[int] = mapped_column(default=0)
    begun: Mapped[int] = mapped_column(server_default="0", default=0)  # times it was begun since it last came to an end
    lane: Mapped[int] = mapped_column(SmallInteger, server_default="0", default=int(Lane.PEOPLE))
    about: Mapped[str | None] = mapped_column(String(64))  # of a LOOK: what it is about; one of each is enough
    due_at: Mapped[float | None]
    lease_until: Mapped[float | None]
    lease_by: Mapped[str | None]
    wake: Mapped[int] = mapped_column(default=0)
    handled_at: Mapped[float | None]


class Session(Base):
    """One conversation about one issue, pull request or red branch of one repository.

    `status` is changed by `loops.sessions.transitions` only. `due_at` is when somebody must look at it next
    (None: never by the clock); `lease_*` say which worker looks at it now. `wake` means nothing any more, and leaves
    with a later release: the one before this writes it.
    """

    __tablename__ = "sessions"
    __table_args__ = (
        Index("sessions_due", "due_at"),
        Index("sessions_leased", "lease_until", sqlite_where=text(_HELD), postgresql_where=text(_HELD)),
        Index("sessions_subject", "repository_id", "subject_kind", "subject_number"),
        Index("sessions_owner", "owner_id", "id"),
        Index("sessions_branch", "repository_id", "branch"),
        Index("sessions_head", "repository_id", "head_sha"),
        Index("sessions_tenant", "installation_id", "status"),
        Index("sessions_pull", "repository_id", "pull_number"),
        Index("sessions_ended", "completed_at", "id", sqlite_where=text(_ENDED), postgresql_where=text(_ENDED)),
        Index("sessions_open", "status", sqlite_where=text(_OPEN), postgresql_where=text(_OPEN)),
    )

    id: Mapped[int] = mapped_column(Key, primary_key=True)
    public_id: Mapped[str] = mapped_column(String(32), unique=True)
    installation_id: Mapped[int]
    repository_id: Mapped[int]
    subject_kind: Mapped[SubjectKind]
    subject_number: Mapped[int | None]
    owner_id: Mapped[int | None]  # person who asked last, for people to see: each turn has an owner of its own
    surface: Mapped[Origin]
    trigger: Mapped[Trigger]
    title: Mapped[str]
    instruction: Mapped[str]
    options: Mapped[dict[str, Any]] = mapped_column(
        default=dict
    )  # switches of the whole conversation: autofix; what was asked with one turn stands in that turn
    config: Mapped[dict[str, Any] | None]  # the repository's configuration as it was when the session began

    base_branch: Mapped[str | None]
    branch: Mapped[str | None]
    own_branch: Mapped[bool] = mapped_column(default=True)  # False: a person's pull request that we repair in place
    head_sha: Mapped[str | None]
    approved_sha: Mapped[str | None]  # a fork's head as it was when somebody asked; None: no fork
    needs_approval: Mapped[bool] = mapped_column(server_default=false(), default=False)  # nobody approved it yet
    pull_number: Mapped[int | None]
    pull_node_id: Mapped[str | None]
    pull_draft: Mapped[bool | None]
    pull_state: Mapped[PullState | None]

    status: Mapped[SessionStatus] = mapped_column(default=SessionStatus.PENDING)
    outcome: Mapped[str | None]
    reason: Mapped[str | None]
    notes: Mapped[list[Any]] = mapped_column(default=list)  # sentences for people: what was noticed on the way
    cap: Mapped[int]
    cancel_requested_at: Mapped[float | None]
    cancel_by: Mapped[str | None]

    checks: Mapped[dict[str, Any] | None]  # the head's state as last seen
    checks_at: Mapped[float | None]
    hint_at: Mapped[float | None]
    pushed_at: Mapped[float | None]
    ready_at: Mapped[float | None]  # when its pull request stopped being a draft
    merge_group: Mapped[dict[str, Any] | None]  # {"sha", "head"}: the commit at which a merge queue tried that head

    summary: Mapped[str | None]
    diff: Mapped[str | None]
    changed_files: Mapped[list[Any]] = mapped_column(default=list)
    resume: Mapped[dict[str, Any]] = mapped_column(default=dict)  # runtime -> the CLI's own session id and directory
    event_seq: Mapped[int] = mapped_column(default=0)

    due_at: Mapped[float | None]
    lease_until: Mapped[float | None]
    lease_by: Mapped[str | None]
    begun: Mapped[int] = mapped_column(server_default="0", default=0)  # times, since a step of it last came to an end
    wake: Mapped[int] = mapped_column(default=0)
    failures: Mapped[int] = mapped_column(default=0)  # steps in a row that raised; backs off

    created_at: Mapped[float]
    started_at: Mapped[float | None]
    completed_at: Mapped[float | None]


class Turn(Base):
    """One run of an agent.

    `status` is changed by `loops.sessions.transitions` only. `source`, `context`, `kind` and `trigger` hold what was
    asked (`loops.sessions.ask_columns`). `spec` is what the box is told, without any secret; `result` what it reported.
    """

    __tablename__ = "turns"
    __table_args__ = (
        UniqueConstraint("session_id", "number"),
        Index("turns_box", "box", "status"),
        Index("turns_status", "status"),
    )

    id: Mapped[int] = mapped_column(Key, primary_key=True)
    public_id: Mapped[str] = mapped_column(String(32), unique=True)
    session_id: Mapped[int] = mapped_column(ForeignKey("sessions.id"))
    number: Mapped[int]
    kind: Mapped[TurnKind]
    trigger: Mapped[Trigger]
    requested_by: Mapped[int | None]
    owner_id: Mapped[int | None]  # person whose box, account and caps it uses; None: the installation's
    delivery: Mapped[str | None]
    source: Mapped[dict[str, Any]] = mapped_column(default=dict)  # the text that asked
    context: Mapped[dict[str, Any]] = mapped_column(default=dict)  # what the prompt is rendered from
    status: Mapped[TurnStatus] = mapped_column(default=TurnStatus.QUEUED)
    runtime: Mapped[str | None]
    model: Mapped[str | None]
    profile_id: Mapped[int | None]
    box: Mapped[str | None]
    marker: Mapped[str]
    spec: Mapped[dict[str, Any] | None]
    base_sha: Mapped[str | None]
    limits: Mapped[dict[str, Any]] = mapped_column(default=dict)
    lost: Mapped[int] = mapped_column(default=0)  # boxes this turn has lost
    retries: Mapped[int] = mapped_column(default=0)  # times it was tried again after its model's provider refused it
    retry_at: Mapped[float | None]  # queued: it is not tried before
    refused_until: Mapped[float | None]  # its model's provider wants to be left alone until then, our gateway was told
    afresh: Mapped[bool] = mapped_column(default=False)  # its conversation grew too long, and it began another one
    waits: Mapped[str | None]  # what it waits for before it can run, for people
    trouble_at: Mapped[float | None]  # its box was seen in trouble and is to be looked at

    token_hash: Mapped[str | None]  # SHA-256 of the token that its runner got with it; its agent never sees that one
    model_token: Mapped[str | None] = mapped_column(
        String(64)
    )  # SHA-256 of the token that it asks its model with, at our gateway; None: its box had the account's own secret
    given: Mapped[bytes | None]  # the secrets that the box was handed with it, encrypted; gone once it is over
    begun_at: Mapped[float | None]  # its agent starts, or did: from here on nothing is fetched any more
    output_offset: Mapped[int] = mapped_column(default=0)
    parser_state: Mapped[dict[str, Any]] = mapped_column(default=dict)
    handed_at: Mapped[float | None]
    heartbeat_at: Mapped[float | None]
    stop_reason: Mapped[str | None]  # set: the box is told to end the turn, and why
    result: Mapped[dict[str, Any] | None]
    message: Mapped[str | None]  # the agent's final message
    error: Mapped[str | None]
    commit_sha: Mapped[str | None]
    tree_sha: Mapped[str | None]
    changed_files: Mapped[list[Any]] = mapped_column(default=list)
    plan: Mapped[list[Any] | None]  # the agent's check list, as it told it last
    input_tokens: Mapped[int] = mapped_column(default=0)
    cached_tokens: Mapped[int] = mapped_column(default=0)
    output_tokens: Mapped[int] = mapped_column(default=0)
    reasoning_tokens: Mapped[int] = mapped_column(server_default="0", default=0)  # of the output
    steps: Mapped[int] = mapped_column(default=0)
    cost: Mapped[float] = mapped_column(default=0.0)
    # with `booked` requests the columns above are what our gateway counted, but for `steps`; these below are what the
    # CLI told
    booked: Mapped[int] = mapped_column(server_default="0", default=0)
    told_input: Mapped[int] = mapped_column(server_default="0", default=0)
    told_cached: Mapped[int] = mapped_column(server_default="0", default=0)
    told_output: Mapped[int] = mapped_column(server_default="0", default=0)
    told_reasoning: Mapped[int] = mapped_column(server_default="0", default=0)
    told_cost: Mapped[float] = mapped_column(server_default="0", default=0.0)
    booked_cost: Mapped[float] = mapped_column(server_default="0", default=0.0)  # 0: nobody knows the model's price
    rounds: Mapped[list[Any]] = mapped_column(
        server_default="[]", default=list
    )  # runs of its agent that came to no commit

    created_at: Mapped[float]
    started_at: Mapped[float | None]
    finished_at: Mapped[float | None]


class Event(Base):
    """What happened in a session, append-only; `seq` counts from 1 in each session."""

    __tablename__ = "events"

    session_id: Mapped[int] = mapped_column(ForeignKey("sessions.id"), primary_key=True, autoincrement=False)
    seq: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    turn_id: Mapped[int | None]
    kind: Mapped[str] = mapped_column(String(32))
    payload: Mapped[dict[str, Any]]
    at: Mapped[float]


class Attempt(Base):
    """A turn that Greenloop started by itself; one for each red head."""

    __tablename__ = "attempts"
    __table_args__ = (UniqueConstraint("session_id", "head_sha"), UniqueConstraint("session_id", "number"))

    id: Mapped[int] = mapped_column(Key, primary_key=True)
    session_id: Mapped[int] = mapped_column(ForeignKey("sessions.id"))
    number: Mapped[int]
    head_sha: Mapped[str]
    turn_id: Mapped[int] = mapped_column(ForeignKey("turns.id"))
    fingerprint: Mapped[str]
    failing: Mapped[list[Any]]
    created_at: Mapped[float]


class Effect(Base):
    """Something we did outside the database, found again by `kind` and `key`; `digest`: of what we last wrote there."""

    __tablename__ = "effects"
    __table_args__ = (UniqueConstraint("session_id", "kind", "key"),)

    id: Mapped[int] = mapped_column(Key, primary_key=True)
    session_id: Mapped[int] = mapped_column(ForeignKey("sessions.id"))
    kind: Mapped[str] = mapped_column(String(32))
    key: Mapped[str] = mapped_column(String(200))
    external_id: Mapped[str]
    digest: Mapped[str | None]
    at: Mapped[float]


class Box(Base):
    """Where turns run.

    `owner_key` (`loops.boxes.owners`) says whose it is; None: a warm spare, nobody's yet. `token_hash` is SHA-256 of
    the token that only this box has; a new `generation` rotates it, and `former_hash` is good until the box was heard
    of with the new one. `stopped_at`: only its home is left.
    """

    __tablename__ = "boxes"
    __table_args__ = (Index("boxes_session", "session_id"),)

    name: Mapped[str] = mapped_column(String(63), primary_key=True)
    owner_key: Mapped[str | None] = mapped_column(String(100), unique=True)
    installation_id: Mapped[int | None]
    person_id: Mapped[int | None]
    repository_id: Mapped[int | None]  # None: for all of the owner's, or nobody's yet
    session_id: Mapped[int | None]  # the box ends with this session
    token_hash: Mapped[str]
    former_hash: Mapped[str | None]
    token_at: Mapped[float] = mapped_column(default=0.0)
    generation: Mapped[int] = mapped_column(default=1)
    seen_at: Mapped[float | None]
    used_at: Mapped[float]
    stopped_at: Mapped[float | None]
    created_at: Mapped[float]


class Blob(Base):
    """A changed file of a turn on its way to GitHub; gone once the turn is published."""

    __tablename__ = "blobs"

    turn_id: Mapped[int] = mapped_column(ForeignKey("turns.id"), primary_key=True, autoincrement=False)
    sha: Mapped[str] = mapped_column(String(64), primary_key=True)
    content: Mapped[bytes]


class Log(Base):
    """A whole log that a turn's box may fetch, compressed with zlib; gone when the session ends."""

    __tablename__ = "logs"

    turn_id: Mapped[int] = mapped_column(ForeignKey("turns.id"), primary_key=True, autoincrement=False)
    name: Mapped[str] = mapped_column(String(200), primary_key=True)
    content: Mapped[bytes]


class Profile(Base):
    """A provider account of a person or (person_id None) of an installation; `secret` is encrypted."""

    __tablename__ = "profiles"
    __table_args__ = (UniqueConstraint("installation_id", "person_id", "name"),)

    id: Mapped[int] = mapped_column(Key, primary_key=True)
    installation_id: Mapped[int]
    person_id: Mapped[int | None]
    name: Mapped[str]
    provider: Mapped[str]
    credential_kind: Mapped[str]
    model: Mapped[str | None]
    base_url: Mapped[str | None]
    secret: Mapped[bytes]
    is_default: Mapped[bool] = mapped_column(default=False)
    fallback: Mapped[str | None]  # name of the account that stands in for it
    limited_until: Mapped[float | None]  # its provider refused it: no turn uses it before
    limited_why: Mapped[str | None]  # a `FailureKind`
    refreshing_until: Mapped[float | None]  # a process refreshes its login, and nobody else does before
    created_at: Mapped[float]
    updated_at: Mapped[float]


class Secret(Base):
    """A named secret for the tests of one repository, or (repository_id None) of all of an installation; encrypted."""

    __tablename__ = "secrets"
    __table_args__ = (UniqueConstraint("installation_id", "repository_id", "name"),)

    id: Mapped[int] = mapped_column(Key, primary_key=True)
    installation_id: Mapped[int]
    repository_id: Mapped[int | None]
    name: Mapped[str] = mapped_column(String(128))
    value: Mapped[bytes]
    updated_at: Mapped[float]


class Audit(Base):
    """Who did what, through which surface."""

    __tablename__ = "audit"
    __table_args__ = (Index("audit_tenant", "installation_id", "at"),)

    id: Mapped[int] = mapped_column(Key, primary_key=True)
    at: Mapped[float]
    installation_id: Mapped[int | None]
    session_id: Mapped[int | None]
    actor: Mapped[str]
    surface: Mapped[str]
    action: Mapped[str]
    details: Mapped[dict[str, Any]] = mapped_column(default=dict)
