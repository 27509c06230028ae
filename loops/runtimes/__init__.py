"""Agent CLIs behind one interface: a turn in, a command line out; a line of output in, events out. No I/O."""
