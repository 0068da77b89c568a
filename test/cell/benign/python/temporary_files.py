import mmap
import os
import tempfile

assert tempfile.gettempdir() == "/tmp"
with tempfile.NamedTemporaryFile() as file, tempfile.TemporaryDirectory() as folder:
    file.write(b"hello")
    file.flush()
    os.link(file.name, os.path.join(folder, "again"))
    os.symlink(file.name, os.path.join(folder, "link"))
    assert open(os.path.join(folder, "link"), "rb").read() == b"hello"
    with mmap.mmap(file.fileno(), 5) as mapped:
        assert mapped[:] == b"hello"
os.mkfifo("/tmp/fifo")
os.chmod("/tmp/fifo", 0o600)
os.utime("/tmp/fifo")
