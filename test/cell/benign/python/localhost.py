import socket
import threading
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, HTTPServer


class Hello(BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b"hello")

    def log_message(self, *_):
        pass


assert socket.gethostbyname("localhost") == "127.0.0.1"
server = HTTPServer(("localhost", 0), Hello)
threading.Thread(target=server.serve_forever, daemon=True).start()
asking = HTTPConnection("localhost", server.server_port)
asking.request("GET", "/")
assert asking.getresponse().read() == b"hello"
left, right = socket.socketpair()
left.send(b"x")
assert right.recv(1) == b"x"
