import { type Attack, python } from '../support/attack.ts';

export const attack: Attack = {
  lines: '37',
  tries: 'to resolve a name, and so to send data out by DNS',
  code: python`
import threading
servers = [line for line in open("/etc/resolv.conf") if line.startswith("nameserver")]
answer = []
def ask():
    try:
        socket.getaddrinfo("example.com", 80)
        answer.append("resolved")
    except socket.gaierror:
        answer.append("refused")
asking = threading.Thread(target=ask, daemon=True)
asking.start()
asking.join(60)
observe(servers=len(servers) > 0, _answer=answer[0] if answer else "still waiting")
`,
  sealed: { servers: false },
};
