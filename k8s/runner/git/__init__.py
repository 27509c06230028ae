"""What git does for a turn: objects, the checkout, what changed, and the room all of it takes."""
