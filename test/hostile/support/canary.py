"""An earlier run, which leaves something wherever it can."""
import os

left = []
for folder in ("/work", "/tmp", "/dev/shm", "/outputs", "/var/tmp", "/run"):
    try:
        with open(os.path.join(folder, "canary"), "w") as file:
            file.write("left")
        left.append(folder)
    except OSError:
        pass
print("LEFT " + " ".join(left), flush=True)
