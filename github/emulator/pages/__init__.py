"""Plain pages of the web host, so that a person can follow the links of the demo. Everybody sees everything here."""
