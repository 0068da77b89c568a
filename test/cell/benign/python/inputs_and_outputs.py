import json
import os

assert sorted(os.listdir("/inputs")) == []
folder = os.path.join(os.environ["HOTCELL_OUTPUTS"], "a", "b")
os.makedirs(folder)
with open(os.path.join(folder, "result.json"), "w") as file:
    json.dump({"answer": 42}, file)
