"""Files: records, comparisons, beliefs and agents, without pickle."""
