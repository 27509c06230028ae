"""Git objects, refs, branches, commits and files."""
