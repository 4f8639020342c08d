import gc
import signal
import sys
from pathlib import Path

# Toys and oracles that several files of tests use, and probes of beliefs. Processes that tests start import them by
# name, too.
HERE = Path(__file__).parent
sys.path[:0] = [str(HERE / "helpers"), *sorted({str(path.parent) for path in HERE.glob("beliefs/*/probes_of_*.py")})]

# Processes that tests start take over whether Ctrl-C is ignored, as below nohup and in the background of a script.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_finish():
    """What has been imported and collected stays to the end. The garbage collector need not look at it again.

    A search through more than ten thousand tests is slow, and compilation, which allocates much, causes many of them.
    """
    gc.freeze()
    gc.set_threshold(10_000, 20, 50)
