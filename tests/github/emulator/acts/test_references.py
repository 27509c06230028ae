"""Closing words and mentions: what GitHub does with text by itself."""

import pytest

from github.emulator.acts.references import running_text
from tests.github.emulator.house import REPO, House


async def issue(house: House, title: str = "t") -> int:
    return int((await house.ask("POST", f"{REPO}/issues", house.alice, json={"title": title})).json()["number"])


async def state(house: House, number: int) -> str:
    return str((await house.ask("GET", f"{REPO}/issues/{number}", house.alice)).json()["state"])


async def merged(house: House, title: str, body: str, base: str = "main") -> None:
    token = await house.token()
    if base != "main":
        await house.commit(token, base, {"base.txt": "x\n"}, base="main")
    await house.commit(token, "topic", {"b.txt": "x\n"}, base=base)
    asked = {"title": title, "body": body, "head": "topic", "base": base}
    pull = (await house.ask("POST", f"{REPO}/pulls", token, json=asked)).json()["number"]
    await house.local.idle()
    answer = await house.ask("PUT", f"{REPO}/pulls/{pull}/merge", token, json={})
    assert answer.status_code == 200, answer.text


@pytest.mark.parametrize(
    "form",
    ["Fixes #{n}", "closed: #{n}", "RESOLVE\nacme/widgets#{n}", "fix GH-{n}", "fixes {web}/acme/widgets/issues/{n}"],
)
async def test_each_form_of_a_closing_word_in_a_merged_description_closes(house: House, form: str) -> None:
    number = await issue(house)
    await merged(house, "t", form.format(n=number, web=house.local.web_url))
    assert await state(house, number) == "closed"


@pytest.mark.parametrize(
    "form",
    ["see #{n}", "prefixes #{n}", "`fixes #{n}`", "```\nfixes #{n}\n```", "<!-- fixes #{n} -->", "f\u200bixes #{n}"],
)
async def test_other_words_code_and_hidden_text_close_nothing(house: House, form: str) -> None:
    number = await issue(house)
    await merged(house, "t", form.format(n=number))
    assert await state(house, number) == "open"


async def test_a_description_closes_only_where_the_base_is_the_default_branch(house: House) -> None:
    number = await issue(house)
    await merged(house, "t", f"Fixes #{number}", base="next")
    assert await state(house, number) == "open"


async def test_a_commit_closes_as_soon_as_it_is_on_the_default_branch(house: House) -> None:
    token, number = await house.token(), await issue(house)
    head = (await house.ask("GET", f"{REPO}/git/ref/heads/main", token)).json()["object"]["sha"]
    tree = (await house.ask("GET", f"{REPO}/git/commits/{head}", token)).json()["tree"]["sha"]
    body = {"message": f"x\n\nfixes #{number} for @carol", "tree": tree, "parents": [head]}
    sha = (await house.ask("POST", f"{REPO}/git/commits", token, json=body)).json()["sha"]
    await house.ask("POST", f"{REPO}/git/refs", token, json={"ref": "refs/heads/topic", "sha": sha})
    assert await state(house, number) == "open"
    assert len(house.local.notified("carol")) == 1
    await house.ask("PATCH", f"{REPO}/git/refs/heads/main", token, json={"sha": sha})
    assert await state(house, number) == "closed"
    assert len(house.local.notified("carol")) == 1


async def test_who_is_mentioned_is_told_once_and_not_by_code_addresses_or_their_own_words(house: House) -> None:
    number = await issue(house)
    path = f"{REPO}/issues/{number}/comments"
    for body in ("ask @Carol, @carol or &#64;bob", "`@bob` and ann@bob.example, @bob/x @nobody", "I am @carol"):
        await house.ask("POST", path, house.carol if body.startswith("I") else house.alice, json={"body": body})
    assert [len(house.local.notified(login)) for login in ("alice", "bob", "carol")] == [0, 1, 1]


def test_text_is_read_as_it_is_shown() -> None:
    body = "a `code` &#64;x\n\n<p>html</p>\n\n    indented\n\n> q\\@y"
    assert running_text(body).split() == ["a", "@x", "html", "q@y"]
