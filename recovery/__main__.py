"""`python -m recovery`: the command line. May import: `cli`."""

from .cli import main

if __name__ == "__main__":
    # By its name, so that the help says what to type; it would say `python -m recovery` otherwise.
    main(prog_name="recovery")
