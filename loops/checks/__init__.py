"""The checks of a head: looked at, run again, collected as evidence, and the next attempt decided."""
