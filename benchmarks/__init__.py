"""Speed as ratios to other libraries, measured in one run: `python -m benchmarks [name ...]`."""
