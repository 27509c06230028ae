import pytest

from loops.comments.public_text import public_text

WEB = ("https://github.example.com", "https://greenloop.example.com")


@pytest.mark.parametrize(
    ("said", "hidden"),
    [
        ("`codex` was not found on PATH=/usr/local/bin:/opt/agents/bin", ("/usr/local", "/opt", "PATH=")),
        ("No such file: /var/lib/greenloop/boxes/42/home/.codex/auth.json", ("/var/lib", ".codex")),
        ("ModuleNotFoundError in ~/Code/widgets/main/app.py", ("~/Code",)),
        ("fatal: unable to access 'http://10.1.2.3:8080/git/acme/widgets/': Failed to connect", ("10.1.2.3", "8080")),
        ("could not connect to redis-master.greenloop.svc.cluster.local:6379", ("redis-master", "6379")),
        ("Connect call failed ('127.0.0.1', 5432)", ("127.0.0.1",)),
        ("could not resolve gateway.greenloop.svc, nor printer.local:631", ("gateway", "printer", "631")),
        ("Connect call failed to localhost:5432", ("localhost", "5432")),
        ("dial tcp [fd00:1234::7]:443: connect: connection refused", ("fd00", "1234")),
        ('Failed to pull image "registry.corp.example/team/box:1.2": not found', ("registry.corp", "team/box")),
        ("image registry.example.com/box@sha256:" + "a" * 64 + " has the wrong architecture", ("registry", "sha256")),
        ("Set GREENLOOP_COMMAND to a program", ("GREENLOOP_COMMAND",)),
        ("postgresql://greenloop:hunter2@db.example.com/greenloop is not reachable", ("hunter2", "db.example.com")),
        ("HTTPS_PROXY=http://proxy.example.com:3128 refused the connection", ("proxy", "3128", "HTTPS_PROXY")),
    ],
)
def test_nothing_of_the_service_is_named(said: str, hidden: tuple[str, ...]) -> None:
    public = public_text(said, WEB)
    assert not [word for word in hidden if word in public], public


@pytest.mark.parametrize(
    "said",
    [
        "src/money.py:7 was changed, and so was .github/workflows/ci.yml.",
        "Changes to `infra/**` are guarded; a file named docs/a.b/c.md is not.",
        "See https://github.example.com/acme/widgets/rules?ref=main for the rule.",
        "Watch it at https://greenloop.example.com/sessions/s_1.",
        "It took 12:30 minutes and/or 3/4 of the budget: $0.25.",
        "Version 1.2.3 was expected.",
        "`tests/.env.local` is where the secrets' file belongs, and settings.local.json is another.",
        "`@greenloop retry` once the check `build / test (3.12)` is there.",
    ],
)
def test_what_people_need_stays_as_it_is(said: str) -> None:
    assert public_text(said, WEB) == said


@pytest.mark.parametrize("piece", ["a.", "/a", "a:", "1.", "A_", "http://", "x=y ", ":", "\x000\x00", "a-"])
def test_time_grows_no_faster_than_the_text(piece: str) -> None:
    import time

    def seconds(size: int) -> float:
        text = piece * (size // len(piece))
        began = time.process_time()
        public_text(text, WEB)
        return time.process_time() - began

    small = max(seconds(20_000), seconds(20_000), 1e-3)
    assert min(seconds(200_000), seconds(200_000)) < 40 * small
