"""The git gateway: a box reads its turn's repository through it, and holds no token of GitHub's."""
