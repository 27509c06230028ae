"""Whatever a box reports, the guards answer, and in bounded time."""

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from github.repositories.config import RepositoryConfig
from k8s.runner.protocol import Change
from loops.guards import Proposal, examine, patch
from loops.guards.globs import matches
from loops.guards.testguard import look
from tests.loops.guards.proposals import blob

PIECES = st.sampled_from(
    [
        "diff --git a/test_a.py b/test_a.py\n",
        "--- a/test_a.py\n",
        "+++ b/test_a.py\n",
        "+++ /dev/null\n",
        '--- "a/\\303\\274 \\"x.py"\n',
        "@@ -1,3 +1,4 @@\n",
        "@@ -0,0 +1 @@\n",
        "@@ -1 +999999999,999999999 @@ def x\n",
        "+def test_a():\n",
        "-def test_a():\n",
        "+    assert True\n",
        "-    assert x == 1\n",
        " \n",
        "\\ No newline at end of file\n",
        "rename from a\n",
        "+[redacted]\n",
        "--- \n",
        "-- x\n",
        "\r\n",
        "+@skip",
        "\x00",
    ]
)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(st.one_of(PIECES, st.text(max_size=20)), max_size=40).map("".join))
def test_no_diff_breaks_the_guard(diff: str) -> None:
    patches = patch.read(diff)
    look([Change("test_a.py", "100644", None), Change("b/test_b.py", "100644", "1" * 40, 3, "test_a.py")], patches)
    for each in patches:
        assert all(line.sign in "+- " for hunk in each.hunks for line in hunk.lines)


@settings(max_examples=60, deadline=None)
@given(st.text(max_size=30), st.text(alphabet="a/*?[]!-.^\\{}", min_size=1, max_size=30))
def test_no_glob_or_path_breaks_the_matcher(path: str, glob: str) -> None:
    assert matches(path, glob) in (True, False)


@settings(max_examples=50, deadline=None)
@given(st.text(max_size=40), st.binary(max_size=300), st.sampled_from(["100644", "120000", "160000", "040000", ""]))
async def test_no_change_breaks_the_examination(path: str, content: bytes, mode: str) -> None:
    async def content_of(sha: str) -> bytes:
        return content

    found = await examine(Proposal([Change(path, mode, blob(content), len(content))]), content_of)
    assert all(refusal.text for refusal in found.refusals)


async def test_a_token_in_a_new_env_sample_is_found_under_settings_that_free_everything() -> None:
    content = b"TOKEN=" + b"ghp_" + b"aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3zA5\n"

    async def content_of(sha: str) -> bytes:
        return content

    rules = RepositoryConfig(protected_paths=[], test_guard="off")
    found = await examine(Proposal([Change(".env.example", "100644", blob(content), 50)], config=rules), content_of)
    assert [each.code for each in found.refusals] == ["secret"]
