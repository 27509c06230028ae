"""Provider accounts: whose, with what credentials, and which one a turn uses."""
