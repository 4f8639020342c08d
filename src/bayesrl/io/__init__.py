"""Files: records, comparisons, beliefs and agents, without pickle.

save, load         a belief, an agent, a record or a comparison to and from one file    store.py
load_log           transitions from a CSV file, a record or a table                     logs.py
to_arrow           a record or a comparison as an Arrow table                           records.py
"""

from typing import TYPE_CHECKING

from bayesrl._lazy import export

if TYPE_CHECKING:
    from bayesrl.io.logs import load_log as load_log
    from bayesrl.io.records import to_arrow as to_arrow
    from bayesrl.io.store import load as load
    from bayesrl.io.store import save as save

export(__name__, {"logs": ("load_log",), "records": ("to_arrow",), "store": ("load", "save")})
