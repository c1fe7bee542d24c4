"""`python -m trope`: the same as the command `trope`, as `torchrun -m trope` needs it."""

from trope.cli import main

if __name__ == "__main__":
    main()
