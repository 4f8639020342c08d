import sys
from pathlib import Path

# Oracles stand beside the tests.
sys.path.insert(0, str(Path(__file__).parent))
