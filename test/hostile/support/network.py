"""For the weak container of a runtime that has no network of the host: one of its own, made by its root."""
import fcntl, os, socket, struct, threading

# Of the same networks as what the attacks ask for: to connect to them, a route is enough.
addresses = ["1.1.1.2/24", "169.254.169.1/24", "192.168.1.2/24", "172.17.0.2/16", "10.0.0.2/8", "2606:4700:4700::2/64"]
NEW_LINK, NEW_ADDRESS, REQUEST, ACKNOWLEDGE, CREATE = 16, 20, 1, 4, 0x400


def ask(kind, flags, body):
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0) as netlink:
        netlink.bind((0, 0))
        header = struct.pack("=IHHII", 16 + len(body), kind, flags | REQUEST | ACKNOWLEDGE, 1, 0)
        netlink.send(header + body)
        answer, = struct.unpack_from("=i", netlink.recv(65536), 16)
        if answer < 0:
            raise OSError(-answer, os.strerror(-answer))


def make():
    tun = os.open("/dev/net/tun", os.O_RDWR)
    fcntl.ioctl(tun, 0x400454CA, struct.pack("16sH22x", b"net0", 0x1001))
    index = socket.if_nametoindex("net0")
    for one in addresses:
        address, bits = one.split("/")
        family = socket.AF_INET6 if ":" in address else socket.AF_INET
        packed = socket.inet_pton(family, address)
        attributes = b"".join(struct.pack("=HH", 4 + len(packed), kind) + packed for kind in (2, 1))
        ask(NEW_ADDRESS, CREATE, struct.pack("=BBBBI", family, int(bits), 0, 0, index) + attributes)
    ask(NEW_LINK, 0, struct.pack("=BBHiII", 0, 0, 0, index, 1, 1))
    return tun


def serve(place):
    tcp = socket.create_server(("127.0.0.1", place["port"]))
    abstract = socket.socket(socket.AF_UNIX)
    abstract.bind("\0" + place["abstract"])
    abstract.listen()
    for server in (tcp, abstract):
        threading.Thread(target=greet, args=(server,), daemon=True).start()
    return tcp, abstract


def greet(server):
    while True:
        connection, _ = server.accept()
        with connection:
            connection.sendall(b"hello\n")
