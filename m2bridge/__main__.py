"""``python -m m2bridge`` is the same as ``m2bridge``."""

import os
import sys

__all__ = ["main"]


def main() -> None:
    """The console script; a Ctrl-C counts from here on, while the program is still loading."""
    try:
        from m2bridge.cli import main as run

        run()
    except KeyboardInterrupt:
        sys.stderr.write("m2bridge: interrupted\n")
        os._exit(130)


if __name__ == "__main__":
    main()
