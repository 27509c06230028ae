"""Lines as text: cleaned, normalised, and what words and edges say without any tool's name."""
