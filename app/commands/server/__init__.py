"""The command line as a client of a Greenloop that runs elsewhere: which one, with what token, and how it is asked."""
