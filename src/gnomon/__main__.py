"""`python -m gnomon` is `gnomon`."""

import sys

from gnomon.cli import main

if __name__ == "__main__":
    sys.exit(main())
