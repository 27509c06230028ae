"""What kind of GitHub this one is."""

from dataclasses import dataclass


@dataclass(frozen=True)
class EmulatorOptions:
    """`enterprise`: behave as GitHub Enterprise Server (API under `/api/v3`, one API version, no stateless tokens).
    `stateless_tokens`: mint the long form. `job_seconds`: the longest a CI job may take. `parallel_jobs`: at once.
    `hook_timeout`: seconds that a webhook's receiver has."""

    enterprise: bool = False
    stateless_tokens: bool = True
    job_seconds: float = 600.0
    parallel_jobs: int = 2
    hook_timeout: float = 10.0
