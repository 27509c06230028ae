"""`python -m app` is the `greenloop` command."""

from app.cli import main

if __name__ == "__main__":
    main()
