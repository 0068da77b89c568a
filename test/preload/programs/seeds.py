import pandas as pd
import random, hashlib, uuid, secrets, tempfile
import numpy as np

# Nothing here may be the same in two cells, or have been drawn while it waited: only the states' forms are shown.
print(random.getstate()[0], len(random.getstate()[1]), np.random.get_state()[0], np.random.get_state()[2])
random.seed(5), np.random.seed(5)
print(random.random(), np.random.rand(2), np.random.default_rng(3).integers(9, size=4), hashlib.sha256(b"x").hexdigest())
print(len(secrets.token_hex()), uuid.uuid5(uuid.NAMESPACE_DNS, "x"), len(tempfile.mktemp()), hash(5), hash(None) == hash(None))
