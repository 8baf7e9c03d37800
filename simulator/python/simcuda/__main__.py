"""`python -m simcuda` is the command `simcuda`."""

from simcuda import main

main()
