"""GitHub's JSON shapes of what the store holds, as of API version 2022-11-28."""
