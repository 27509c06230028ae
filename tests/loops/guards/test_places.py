import pytest

from k8s.runner.protocol import Change
from loops.guards.keyfiles import by_content, by_name, env_like
from loops.guards.places import link_out, odd_entries, path_trick
from loops.runtimes import registry


@pytest.mark.parametrize(
    "path",
    [
        "",
        "/etc/passwd",
        "a//b",
        "../a",
        "a/../../b",
        "a/./b",
        "a/",
        ".git/config",
        ".GIT/hooks/x",
        "a/.git/config",
        ".git./x",
        ".git /x",
        ".git::$INDEX_ALLOCATION/x",
        "git~1/config",
        ".g\u200cit/config",
        "a\\..\\b",
        "a\\.git\\x",
        "a\nb",
        "a\x7f",
        "a:$DATA",
        "half" + chr(0xDCFF),
        "a" * 256,
    ],
)
def test_these_names_are_never_published(path: str) -> None:
    assert path_trick(path)


@pytest.mark.parametrize(
    "path",
    [
        ".gitignore",
        ".github/x",
        "a/.gitkeep",
        "git/x",
        "docs/über ü.md",
        "a b/c",
        "..a",
        "a..b",
        "a:b",
        ".gitattributes",
        "x.git/y",
    ],
)
def test_these_names_are_plain(path: str) -> None:
    assert path_trick(path) is None


def test_a_file_with_an_odd_name_may_still_be_removed() -> None:
    assert path_trick("a\\b.txt", gone=True) is None
    assert path_trick("a/../b", gone=True)


@pytest.mark.parametrize(
    "change",
    [
        Change("lib", "160000", "1" * 40),
        Change("lib", "160000", None),
        Change(".gitmodules", "100644", "1" * 40),
        Change("x", "100644", "1" * 40, 1, ".GitModules"),
    ],
)
def test_submodules_are_left_to_people(change: Change) -> None:
    assert [finding.code for finding in odd_entries([change])] == ["submodule"]


@pytest.mark.parametrize(
    "target",
    ["/etc/passwd", "../../x", "../..", "C:\\x", "\\\\host\\x", "~/x", "", "a\0b", "../.git/config", "..\\..\\x"],
)
def test_a_link_that_leads_out_is_named(target: str) -> None:
    assert link_out("dir/link", target.encode())


@pytest.mark.parametrize("target", ["x", "../x", "sub/../y", "..x", "../dir/z"])
def test_a_link_that_stays_inside_is_fine(target: str) -> None:
    assert link_out("dir/link", target.encode()) is None


@pytest.mark.parametrize(
    "path", [".env", ".ENV", "a/.env", ".env.local", ".env.production", "prod.env", ".env_backup", "deploy/docker.env"]
)
def test_env_files_are_known_by_name(path: str) -> None:
    assert env_like(path)


@pytest.mark.parametrize(
    "path",
    [
        ".env.example",
        ".env.sample",
        ".env.template",
        ".env.local.example",
        "example.env",
        ".envrc",
        "env.py",
        "src/env/a.py",
        "environment.yml",
        ".env.dist",
        "venv",
        "setup-env.sh",
    ],
)
def test_samples_and_code_are_no_env_files(path: str) -> None:
    assert not env_like(path)


@pytest.mark.parametrize(
    "path",
    [
        "id_rsa",
        ".ssh/id_ed25519",
        "a/key.p12",
        "release.jks",
        ".netrc",
        ".git-credentials",
        ".aws/credentials",
        ".codex/auth.json",
        ".claude/.credentials.json",
        *registry.key_files(),
    ],
)
def test_credential_files_are_known_by_name(path: str) -> None:
    found = by_name(path, frozenset())
    assert found and found.code == "credential_file" and path in found.text


@pytest.mark.parametrize("path", ["id_rsa.pub", "src/credentials.py", "keystore.md", "docs/netrc.md", "certs/ca.pem"])
def test_names_that_only_sound_alike_are_free(path: str) -> None:
    assert by_name(path, frozenset()) is None


RANDOM = "a8Fk2LmQ9xZ7wR4tY6uP"


@pytest.mark.parametrize(
    ("path", "content", "refused"),
    [
        (".npmrc", f"//registry.npmjs.org/:_authToken=npm_{RANDOM}\n", True),
        (".npmrc", "//registry.npmjs.org/:_authToken=${NPM_TOKEN}\nengine-strict=true\n", False),
        (".pypirc", f"[pypi]\nusername = __token__\npassword = pypi-{RANDOM}\n", True),
        (".docker/config.json", f'{{"auths": {{"ghcr.io": {{"auth": "{RANDOM}"}}}}}}', True),
        ("src/config.json", '{"auth": {"enabled": true}}', False),
        ("credentials.json", f'{{"installed": {{"client_id": "x", "client_secret": "GOCSPX-{RANDOM}"}}}}', True),
        ("gcp.json", f'{{"type": "service_account", "private_key": "{RANDOM * 4}"}}', True),
        ("auth.json", f'{{"tokens": {{"refresh_token": "{RANDOM}"}}}}', True),
        ("credentials.json", '{"client_secret": "your-client-secret-here"}', False),
        ("tests/auth.json", '{"users": ["a"]}', False),
        ("credentials.json", "[" * 100_000, False),
        ("kubeconfig", f"users:\n- user:\n    client-key-data: {RANDOM * 3}\n", True),
        ("de.key", "title = Hallo\n", False),
    ],
)
def test_the_content_decides_where_the_name_does_not(path: str, content: str, refused: bool) -> None:
    found = by_content(path, content.encode())
    assert (found is not None) is refused
    assert found is None or RANDOM not in found.text
