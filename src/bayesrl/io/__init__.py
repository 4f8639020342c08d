"""Files: records, comparisons, beliefs and agents, without pickle.

save, load         a belief, an agent, a record or a comparison to and from one file    store.py
load_log           transitions from a CSV file, a record or a table                     logs.py
to_arrow           a record or a comparison as an Arrow table                           records.py
"""

from bayesrl._lazy import export

export(__name__)
