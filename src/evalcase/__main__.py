"""`python -m evalcase` is the same as `evalcase`."""

from evalcase.cli.main import main

main()
