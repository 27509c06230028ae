"""The workflow that repositories of tests have."""


def workflow(run: str) -> str:
    """A workflow file for pushes and pull requests, whose one job `test` is the command `run` on a checkout."""
    return f"""
name: CI
on: [push, pull_request]
jobs:
  test:
    runs-on: ubuntu-latest
    steps:
      - uses: actions/checkout@v4
      - run: {run}
"""
