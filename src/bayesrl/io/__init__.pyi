from bayesrl.io.logs import load_log as load_log
from bayesrl.io.records import to_arrow as to_arrow
from bayesrl.io.store import load as load
from bayesrl.io.store import save as save
