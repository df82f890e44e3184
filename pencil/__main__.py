"""`python -m pencil` is the command `pencil`."""

from pencil.cli.main import main

main()
