"""The model gateway: boxes ask their models here, with a token of their turn in place of a key."""
