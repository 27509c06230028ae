"""Agent CLIs behind one interface: a turn in, a command line out; a line of output in, events out. No I/O.

A runtime is a folder here with one `RuntimeSpec` in its `spec.py`; `registry` lists them; everything else reads that.
"""
