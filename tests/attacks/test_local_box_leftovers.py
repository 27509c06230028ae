"""What hostile code in a local box behind walls leaves: for its runner, for the runner's git, for the next turn."""

import os

import pytest

from k8s.runner import protocol
from loops.guards.places import path_trick
from tests.attacks.walled import Walled, printed, server, service, walled

__all__ = ["server", "service", "walled"]


@pytest.mark.parametrize("name", [".gitignore", ".gitattributes", "a", "d"])
async def test_a_fifo_in_the_place_of_a_file_hangs_nothing_and_is_named(walled: Walled, name: str) -> None:
    sha = walled.commit({"a": "1", ".gitignore": "*.log\n", ".gitattributes": "*.txt text\n", "d/f": "1"})
    _, result = await walled.run(f"rm -rf {name}; mkfifo {name}; echo new > b", sha)
    assert [change.path for change in result.changes if change.sha] == ["b"], result
    assert f"{name} (a FIFO)" in result.left_out


async def test_a_device_and_a_socket_in_the_tree_are_named_and_not_read(walled: Walled) -> None:
    _, result = await walled.run(
        """
        exec /usr/bin/python3 - <<'X'
        import os, socket, stat
        # the one device that anybody may make
        os.mknod("device", stat.S_IFCHR | 0o666, os.makedev(0, 0))
        socket.socket(socket.AF_UNIX).bind("listens")
        open("b", "w").write("new")
        X
        """,
        walled.commit({"a": "1"}),
    )
    assert [change.path for change in result.changes] == ["b"], result
    assert {"device (a device)", "listens (a socket)"} <= set(result.left_out)


async def test_a_nested_repository_runs_nothing_as_the_runner(walled: Walled) -> None:
    sha = walled.commit({"a": "1", "d/f": "1"})
    _, result = await walled.run(
        """
        cd d; git init -q; echo '* filter=x' > .gitattributes
        git config filter.x.clean "sh -c 'id > /tmp/ran; touch ~/ran; cat'"
        git config core.fsmonitor "touch ~/ran"
        echo 2 > f; git add f; git -c user.name=x -c user.email=x commit -qm x
        rm -f ~/ran; cd ..
        printf '[submodule "d"]\\n\\tpath = d\\n\\turl = x\\n\\tupdate = !touch ~/ran\\n' > .gitmodules
        """,
        sha,
    )
    assert {change.path for change in result.changes} == {".gitmodules", "d/f"}
    assert "d/ (a repository of its own)" in result.left_out
    assert not [folder for folder, _, files in os.walk(walled.home) if "ran" in files]


GIT_TRICKS = """
printf '#!/bin/sh\\ntouch ~/ran %s/agent/ran; cat\\n' {home} > ~/evil; chmod +x ~/evil; mkdir ~/hooks
for hook in post-checkout post-index-change reference-transaction pre-auto-gc pre-commit; do
    cp ~/evil ~/hooks/$hook
done
for key in core.fsmonitor core.sshCommand core.alternateRefsCommand core.pager diff.external \\
    uploadpack.packObjectsHook filter.x.clean filter.x.smudge filter.x.process filter.lfs.process \\
    diff.x.textconv merge.x.driver; do
    git config $key ~/evil
done
git config core.hooksPath ~/hooks; git config core.worktree {home}/runner; git config credential.helper "!$HOME/evil"
mkdir -p .git/info .git/objects/info
echo '* filter=x diff=x merge=x' > .git/info/attributes
echo 'd/f filter=x diff=x merge=x' > .gitattributes; echo 2 > d/f
printf '%s\\n' {home}/runner/repos {home}/given/../runner >> .git/objects/info/alternates
printf '[submodule "s"]\\n\\tpath = s\\n\\turl = ext::sh -c ~/evil\\n\\tupdate = !~/evil\\n' > .gitmodules
mkdir -p s .GIT git~1 "$(printf '.g\\342\\200\\214it')"; echo 's' > s/f
for place in .GIT git~1 "$(printf '.g\\342\\200\\214it')"; do
    printf '[core]\\n\\tfsmonitor = ~/evil\\n' > $place/config
done
echo 2 > a
"""


@pytest.mark.parametrize("instead", ["", "rm -rf .git; echo 'gitdir: {home}/runner' > .git", "mv .git x; ln -s x .git"])
async def test_nothing_in_git_of_the_agents_making_runs_leads_or_is_taken_over(walled: Walled, instead: str) -> None:
    sha = walled.commit({"a": "1", "d/f": "1"})
    script = (GIT_TRICKS + instead).replace("{home}", str(walled.home))
    _, result = await walled.run(script + "\nrm -f ~/ran ../../../../../ran; exit 3", sha)
    assert (result.reason, result.exit_code) == (protocol.EXITED, 3), result
    paths = {change.path for change in result.changes}
    assert {"a", ".gitattributes", ".gitmodules", "s/f"} <= paths
    assert {"d/f (filter=x does not run here)", ".GIT/config (git takes no such name)"} <= set(result.left_out)
    # what other file systems take for git's folder the service refuses to publish
    odd = paths - {"a", ".gitattributes", ".gitmodules", "s/f"}
    assert all(path_trick(path) for path in odd if not path.startswith("x/")), odd
    assert not [folder for folder, _, files in os.walk(walled.home) if "ran" in files]
    told, result = await walled.run("git config --list --local; cat a; git status --short", sha)
    assert "evil" not in printed(told) and printed(told).endswith("1"), printed(told)
    assert not [folder for folder, _, files in os.walk(walled.home) if "ran" in files]


async def test_what_a_turn_leaves_in_its_home_is_not_there_in_the_next_but_for_downloads(walled: Walled) -> None:
    await walled.run(
        """
        cd; for file in .bashrc .profile .gitconfig .npmrc .claude/settings.json .codex/config.toml .cargo/config.toml \
            .config/opencode/plugin/x.js .gradle/init.d/x.gradle .m2/settings.xml .local/bin/git go/bin/go \
            .local/lib/python3.11/site-packages/usercustomize.py .npm/_npx/x .npm/_cacache/kept .cache/pip/kept; do
            mkdir -p $(dirname $file); echo evil > $file
        done
        mkdir ../beside ../caches/evil; echo evil > ../caches/x; ln -s / ../link
        echo evil | tee /tmp/evil /var/tmp/evil /dev/shm/evil > /dev/null
        """
    )
    told, _ = await walled.run("cd; find -L . -type f; ls ..; ls ../caches; ls -A /tmp /var/tmp /dev/shm | grep evil")
    names = ["caches", "home", "cargo", "go", "gradle", "maven", "npm", "pip"]
    assert sorted(printed(told).split()) == sorted(["./.npm/_cacache/kept", "./.cache/pip/kept", *names])


async def test_deleting_the_home_costs_the_next_turn_nothing(walled: Walled) -> None:
    sha = walled.commit({"a": "1"})
    for harm in ("rm -rf ~ ..", "chmod 000 ~", "rm -rf ../caches; ln -s / ../caches", "mv ~ ../x; touch ~"):
        _, result = await walled.run(f"cd; {harm}; exit 0", sha)
        assert result.reason == protocol.EXITED, (harm, result.message)
    told, result = await walled.run("cat a; ls -A ~/.cache; touch ~/.cache/pip/x && echo fine", sha)
    assert printed(told).split() == ["1pip", "fine"], result.message


async def test_files_that_nobody_may_read_are_read_or_named_and_never_stop_a_turn(walled: Walled) -> None:
    sha = walled.commit({"a": "1", "d/f": "1"})
    _, result = await walled.run("echo 2 > a; chmod 000 a; echo 2 > d/f; chmod 000 d; echo n > n; chmod 000 n", sha)
    assert {change.path: change.mode for change in result.changes} == dict.fromkeys(("a", "d/f", "n"), "100644")
    deep = 'python3 -c \'import os\nfor _ in range(3000): os.mkdir("x"); os.chdir("x")\'; touch b'
    _, result = await walled.run(deep, sha)
    assert [change.path for change in result.changes] == ["b"]
    assert any("folders in one another" in each for each in result.left_out)
    _, result = await walled.run("cat a", sha)
    assert result.exit_code == 0
