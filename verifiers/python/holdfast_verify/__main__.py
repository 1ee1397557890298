"""`python3 -m holdfast_verify PROOF [CONTENT] …`"""

import sys

from .cli import main

if __name__ == "__main__":
    sys.exit(main())
