"""An index of the names in a checkout, by syntax."""
