"""What people do at the local GitHub: nothing of what goes wrong there hits them."""

from app.demo.world import PERSON, World
from github.emulator.acts import comments, issues


def ask(world: World) -> int:
    """An issue with a mention; its number."""

    def act() -> int:
        repository, person = world.local.repository(world.repository), world.local.user(PERSON)
        issue = issues.opened(world.local.hub.forge, repository, person, "Make it right", "It is wrong.")
        comments.created(world.local.hub.forge, issue, person, "@greenloop fix it")
        return issue.number

    return world.local.call(act)


def take_back(world: World, number: int) -> None:
    """Stop the work on it."""

    def act() -> None:
        issue = world.local.store.issue(world.local.repository(world.repository), number)
        assert issue is not None
        comments.created(world.local.hub.forge, issue, world.local.user(PERSON), "@greenloop stop")

    world.local.call(act)
