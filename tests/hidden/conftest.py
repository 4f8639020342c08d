import sys
from pathlib import Path

# Known problems stand beside the tests.
sys.path.insert(0, str(Path(__file__).parent))
