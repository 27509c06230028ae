"""The activity of a repository: who moved its branches, whoever wrote the commits."""

from tests.github.emulator.house import REPO, House

NOTHING = "0" * 40


async def test_each_move_of_a_branch_is_listed_with_who_was_authenticated_newest_first(house: House) -> None:
    token = await house.token()
    made = await house.commit(token, "topic", {"a.txt": "2"}, base="main")
    forged = {"name": "alice", "email": house.alice.noreply}
    body = {"message": "m", "content": "", "branch": "topic", "author": forged, "committer": forged}
    pushed = await house.ask("PUT", f"{REPO}/contents/b.txt", house.carol, json=body)
    tip = pushed.json()["commit"]["sha"]
    moved = {"sha": made, "force": True}
    assert (await house.ask("PATCH", f"{REPO}/git/refs/heads/topic", house.alice, json=moved)).is_success
    assert (await house.ask("DELETE", f"{REPO}/git/refs/heads/topic", house.alice)).is_success
    bot = f"{house.local.app.slug}[bot]"
    listed = (await house.ask("GET", f"{REPO}/activity?ref=refs/heads/topic", token)).json()
    assert [(row["activity_type"], row["before"], row["after"], row["actor"]["login"]) for row in listed] == [
        ("branch_deletion", made, NOTHING, "alice"),
        ("force_push", tip, made, "alice"),
        ("push", made, tip, "carol"),
        ("branch_creation", NOTHING, made, bot),
    ]


async def test_activity_goes_on_by_cursor_and_knows_no_page_numbers(house: House) -> None:
    for number in range(3):
        await house.commit(house.carol.token, f"topic-{number}", {"a.txt": str(number)}, base="main")
    path = f"{REPO}/activity?per_page=2&activity_type=branch_creation"
    first = await house.ask("GET", path, house.carol)
    assert [row["ref"] for row in first.json()] == ["refs/heads/topic-2", "refs/heads/topic-1"]
    assert (await house.ask("GET", f"{path}&page=2", house.carol)).json() == first.json()
    rest = await house.ask("GET", first.links["next"]["url"], house.carol)
    assert [row["ref"] for row in rest.json()] == ["refs/heads/topic-0"] and not rest.links


async def test_what_the_double_cannot_do_with_activity_it_refuses(house: House) -> None:
    for query in ("time_period=day", "before=1", "direction=asc", "activity_type=tag"):
        assert (await house.ask("GET", f"{REPO}/activity?{query}", house.carol)).status_code == 422
