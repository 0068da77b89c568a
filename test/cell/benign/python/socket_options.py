import resource
import socket

# What servers and clients usually set, and limits that a program lowers for its children.
with socket.socket() as tcp:
    for level, option, value in [
        (socket.SOL_SOCKET, socket.SO_REUSEADDR, 1),
        (socket.SOL_SOCKET, socket.SO_REUSEPORT, 1),
        (socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1),
        (socket.SOL_SOCKET, socket.SO_SNDBUF, 65536),
        (socket.SOL_SOCKET, socket.SO_RCVBUF, 65536),
        (socket.IPPROTO_TCP, socket.TCP_NODELAY, 1),
        (socket.IPPROTO_TCP, socket.TCP_KEEPIDLE, 30),
        (socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, 1000),
        (socket.IPPROTO_IP, socket.IP_TOS, 16),
    ]:
        tcp.setsockopt(level, option, value)
    tcp.settimeout(1)
with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as udp:
    udp.setsockopt(socket.SOL_SOCKET, socket.SO_BROADCAST, 1)
    udp.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_TTL, 1)
for limit in (resource.RLIMIT_NOFILE, resource.RLIMIT_STACK, resource.RLIMIT_CPU):
    soft, hard = resource.getrlimit(limit)
    assert resource.prlimit(0, limit) == (soft, hard)
resource.setrlimit(resource.RLIMIT_NOFILE, (100, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))
assert resource.getrlimit(resource.RLIMIT_NOFILE)[0] == 100
