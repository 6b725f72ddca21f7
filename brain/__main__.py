"""What does `python -m brain` run? The command line."""

from brain.cli import main

if __name__ == "__main__":
    main()
