"""`python -m gawah` is the command line."""

from gawah.cli import main

if __name__ == "__main__":
    main()
