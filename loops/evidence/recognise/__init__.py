"""What tools print, as shapes, and finding the lines that have one."""
