"""``python -m m2bridge`` is the same as ``m2bridge``."""

from m2bridge.cli import main

main()
