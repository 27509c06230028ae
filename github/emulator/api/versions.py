"""The API versions: bodies are built as of 2022-11-28, and 2026-03-10 leaves fields out."""

from typing import Any

VERSIONS = ("2022-11-28", "2026-03-10")
DEFAULT = VERSIONS[0]


def shaped(body: Any, version: str) -> Any:
    """The body as `version` has it (breaking changes of 2026-03-10, GitHub's documentation)."""
    if version == DEFAULT:
        return body
    if isinstance(body, list):
        return [shaped(item, version) for item in body]
    if not isinstance(body, dict):
        return body
    gone: set[str] = set()
    if "assignees" in body:
        gone.add("assignee")
    if "head" in body and "base" in body:
        gone.add("merge_commit_sha")
    if "full_name" in body:
        gone |= {"has_downloads", "use_squash_pr_title_as_default", "master_branch"}
    if "resources" in body:
        gone.add("rate")
    return {key: shaped(value, version) for key, value in body.items() if key not in gone}
