import gc
import sys
from pathlib import Path

# Toys and oracles that several files of tests use. Processes that tests start import them by name, too.
sys.path.insert(0, str(Path(__file__).parent / "helpers"))


def pytest_collection_finish():
    """What has been imported and collected stays to the end. The garbage collector need not look at it again.

    A search through more than ten thousand tests is slow, and compilation, which allocates much, causes many of them.
    """
    gc.freeze()
    gc.set_threshold(10_000, 20, 50)
