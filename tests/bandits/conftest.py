import sys
from pathlib import Path

# one_family.py is imported by name.
sys.path.insert(0, str(Path(__file__).parent))
