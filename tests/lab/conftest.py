import sys
from pathlib import Path

# Worker processes import the toys by name, so they must stand on the path and not only in pytest's module table.
sys.path.insert(0, str(Path(__file__).parent))
