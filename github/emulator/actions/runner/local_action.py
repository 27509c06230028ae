"""Actions of the checkout itself (`uses: ./path`)."""

from pathlib import Path

from github.emulator.actions.runner.uses import CannotDo
from github.workflows.composite import Action, read_action


def read(checkout: Path, name: str) -> Action:
    """The action in that folder. Raises `CannotDo` where there is none, `BadWorkflow` for one of another kind."""
    folder = checkout / name.removeprefix("./")
    file = next((folder / each for each in ("action.yml", "action.yaml") if (folder / each).is_file()), None)
    if file is None:
        raise CannotDo(
            f"Can't find 'action.yml' or 'action.yaml' under '{name}'. Did you forget to run actions/checkout?"
        )
    return read_action(file.read_text(), name)
