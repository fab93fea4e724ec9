"""A thousand requests by clients that break off, lie and shout: python rude_clients.py TEAPOT MODEL [--requests 1000]

Afterwards nothing runs, memory and open files are as they were, and the next reply is right."""
import argparse, json, random, socket, sys, threading, time
from teapot_server import serving

CHAT = {"messages": [{"role": "user", "content": "Hello! How are you?"}], "temperature": 0, "max_tokens": 200, "ignore_eos": True}
WORDS = "a farmer has twelve cows and sells seven of them on the market for nine coins each ".split()


def post(path, body, length=None):
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    return f"POST {path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: {len(data) if length is None else length}\r\n\r\n".encode() + data


class Rude:
    def __init__(self, port, seed):
        self.port, self.random = port, random.Random(seed)

    def connect(self):
        return socket.create_connection(("127.0.0.1", self.port), timeout=60)

    def read(self, connection, upto=1 << 20):
        got = b""
        try:
            while len(got) < upto:
                part = connection.recv(65536)
                if not part:
                    break
                got += part
        except (ConnectionError, TimeoutError):
            pass
        return got

    def long_prompt(self):
        return {**CHAT, "messages": [{"role": "user", "content": " ".join(self.random.choice(WORDS) for _ in range(1500))}]}

    # Each is one rude request.
    def leave_before_first_token(self):
        with self.connect() as c:
            c.sendall(post("/v1/chat/completions", {**self.long_prompt(), "stream": self.random.random() < 0.5}))
            time.sleep(self.random.random() * 0.02)

    def leave_mid_stream(self):
        with self.connect() as c:
            c.sendall(post("/v1/chat/completions", {**CHAT, "stream": True}))
            self.read(c, self.random.randrange(1, 4000))

    def leave_while_waiting(self):
        with self.connect() as c:
            c.sendall(post("/v1/chat/completions", CHAT))
            time.sleep(self.random.random() * 0.05)

    def reset(self):
        c = self.connect()
        c.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\x01\0\0\0\0\0\0\0")
        c.sendall(post("/v1/chat/completions", {**CHAT, "stream": True}))
        self.read(c, 200)
        c.close()

    def half_body(self):
        with self.connect() as c:
            data = post("/v1/chat/completions", CHAT)
            c.sendall(data[: self.random.randrange(1, len(data))])

    def bad_json(self):
        data = json.dumps(CHAT).encode()
        at = self.random.randrange(len(data))
        broken = data[:at] + bytes([self.random.randrange(256)]) + data[at + 1:] + self.random.choice([b"", b"}", b"\xff", b"]" * 1000, b"[" * 5000])
        if broken == data:
            return
        with self.connect() as c:
            c.sendall(post("/v1/completions", broken))
            status = int(self.read(c, 12)[9:12])
            assert status in (200, 400), status

    def huge_header(self):
        with self.connect() as c:
            try:
                c.sendall(b"GET /health HTTP/1.1\r\nHost: x\r\nX-Big: " + b"a" * 200000 + b"\r\n\r\n")
                assert self.read(c, 12)[9:12] == b"431"
            except ConnectionError:
                pass

    def huge_body(self):
        with self.connect() as c:
            c.sendall(post("/v1/completions", b"", length=1 << 40))
            reply = self.read(c)
            assert reply[9:12] == b"413" and b"larger than 67108864 bytes" in reply, reply

    def unknown_route(self):
        with self.connect() as c:
            c.sendall(f"GET /{self.random.randrange(1 << 30):x} HTTP/1.1\r\nHost: x\r\n\r\n".encode())
            assert self.read(c, 12)[9:12] == b"404"

    def not_http(self):
        with self.connect() as c:
            c.sendall(bytes(self.random.randrange(256) for _ in range(self.random.randrange(1, 300))) + b"\r\n\r\n")
            c.shutdown(socket.SHUT_WR)
            self.read(c, 400)

    def pipelined_then_gone(self):
        with self.connect() as c:
            c.sendall(post("/v1/chat/completions", {**CHAT, "stream": True}) * 3)
            self.read(c, 100)

    def polite(self):
        with self.connect() as c:
            c.sendall(post("/v1/chat/completions", {**CHAT, "max_tokens": 3, "ignore_eos": False}))
            assert int(self.read(c, 12)[9:12]) in (200, 429)


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("binary")
    arguments.add_argument("model")
    arguments.add_argument("--requests", type=int, default=1000)
    arguments = arguments.parse_args()
    failures = []
    with serving(arguments.binary, arguments.model, "--cache-bytes", "4MiB") as server:  # full before memory is looked at
        ask = lambda: server.post("/v1/chat/completions", {**CHAT, "max_tokens": 60})[1]["choices"]
        expected = ask()

        def run(seed, count):
            rude = Rude(server.port, seed)
            kinds = [getattr(Rude, name) for name in vars(Rude) if not name.startswith("_") and name not in ("connect", "read", "long_prompt")]
            for _ in range(count):
                kind = rude.random.choice(kinds)
                try:
                    kind(rude)
                except Exception as error:
                    failures.append(f"{kind.__name__}: {type(error).__name__} {error}")

        def crowd(first_seed, requests):
            threads = [threading.Thread(target=run, args=(first_seed + i, requests // 8)) for i in range(8)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            server.idle(30)

        crowd(100, arguments.requests // 4)  # the caches and pools of a first crowd are no leak
        memory, files = server.memory_kib(), server.files()
        crowd(200, arguments.requests - arguments.requests // 4)
        grown = server.memory_kib() - memory
        if grown > 16 * 1024:
            failures.append(f"memory grew by {grown} KiB")
        end = time.monotonic() + 10
        while server.files() > files and time.monotonic() < end:
            time.sleep(0.05)
        if server.files() > files:
            failures.append(f"{server.files()} files open, {files} before")
        if ask() != expected:
            failures.append("the next reply differs")
    for failure in failures[:20]:
        print("FAILED", failure)
    print(f"rude clients: {arguments.requests - len(failures)} passed, {len(failures)} failed")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
