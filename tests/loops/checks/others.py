"""Red checks as other CI services report them to GitHub."""

from github.checks.model import Check, Kind

BUILDKITE = Check(
    Kind.CHECK_RUN,
    41,
    "buildkite/app",
    811,
    "buildkite",
    "failure",
    url="https://buildkite.example.org/octo/app/builds/812",
    title="Build #812 failed (4 minutes, 11 seconds)",
    summary="**unit** failed with exit status 1",
)
JENKINS = Check(
    Kind.STATUS,
    42,
    "continuous-integration/jenkins/pr-merge",
    0,
    "",
    "failure",
    url="https://jenkins.example.org/job/app/job/PR-5/3/display/redirect",
    title="This commit cannot be built",
)
