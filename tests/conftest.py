import gc
import signal
import sys
from pathlib import Path

# Toys and oracles that several files of tests use. Processes that tests start import them by name, too.
sys.path.insert(0, str(Path(__file__).parent / "helpers"))

# Processes that tests start take over whether Ctrl-C is ignored, as below nohup and in the background of a script.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_finish():
    """What has been imported and collected stays to the end. The garbage collector need not look at it again.

    A search through more than ten thousand tests is slow, and compilation, which allocates much, causes many of them.
    """
    gc.freeze()
    gc.set_threshold(10_000, 20, 50)
