"""Which label asks us to work: the repository's, where it names one."""

from github.repositories.config import RepositoryConfig
from loops.context import Loop


def label_of(loop: Loop, config: RepositoryConfig | None) -> str:
    """The label of a repository with these settings."""
    return config.label if config is not None and "label" in config.model_fields_set else loop.me.label
