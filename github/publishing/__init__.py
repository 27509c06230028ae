"""From files to a pull request: trees, commits, branches, and the rules that guard them."""
