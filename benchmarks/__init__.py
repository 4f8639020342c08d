"""Speed, as ratios beside other libraries, in one run: `python -m benchmarks [name ...]`."""
