"""Starts `teapot serve` on a free port, waits until it is ready, ends it with SIGTERM and checks how it ended."""
import contextlib, json, re, signal, subprocess, threading, time, urllib.error, urllib.request


class Server:
    def __init__(self, binary, model, *options):
        self.log = []
        self.process = subprocess.Popen([binary, "serve", model, "--port", "0", *options], stderr=subprocess.PIPE, text=True)
        self.port = None
        threading.Thread(target=self._read, daemon=True).start()
        self._wait(lambda: self.port is not None, "the port")
        self.url = f"http://127.0.0.1:{self.port}"
        self._wait(lambda: self.get("/health")[0] == 200, "the model")

    def _read(self):
        for line in self.process.stderr:
            self.log.append(line)
            found = re.search(r"listening on http://[^:]+:(\d+)", line)
            if found:
                self.port = int(found.group(1))

    def _wait(self, ready, what, seconds=120):
        end = time.monotonic() + seconds
        while not ready():
            if self.process.poll() is not None:
                raise SystemExit(f"teapot serve ended with {self.process.returncode} before {what} was there:\n" + "".join(self.log))
            if time.monotonic() > end:
                raise SystemExit(f"no {what} after {seconds} s:\n" + "".join(self.log))
            time.sleep(0.02)

    def request(self, method, path, body=None, headers=None):
        """-> (status, headers, body text)"""
        data = body if isinstance(body, (bytes, type(None))) else json.dumps(body).encode()
        request = urllib.request.Request(self.url + path, data=data, method=method, headers={"Content-Type": "application/json", **(headers or {})})
        try:
            with urllib.request.urlopen(request, timeout=120) as reply:
                return reply.status, reply.headers, reply.read().decode()
        except urllib.error.HTTPError as error:
            return error.code, error.headers, error.read().decode()

    def get(self, path):
        status, _, text = self.request("GET", path)
        return status, json.loads(text)

    def post(self, path, body, headers=None):
        status, _, text = self.request("POST", path, body, headers)
        return status, json.loads(text)

    def idle(self, seconds=10):
        """Waits until nothing runs and nothing waits; fails if that does not come."""
        end = time.monotonic() + seconds
        while True:
            status, health = self.get("/health")
            if status == 200 and health["running"] == 0 and health["waiting"] == 0:
                return
            if time.monotonic() > end:
                raise SystemExit(f"still busy after {seconds} s: {health}")
            time.sleep(0.02)

    def memory_kib(self):
        with open(f"/proc/{self.process.pid}/status") as status:
            return int(re.search(r"VmRSS:\s+(\d+)", status.read()).group(1))

    def files(self):
        import os
        return len(os.listdir(f"/proc/{self.process.pid}/fd"))

    def stop(self, seconds=60):
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(seconds)


@contextlib.contextmanager
def serving(binary, model, *options):
    server = Server(binary, model, *options)
    try:
        yield server
        code = server.stop()
        if code != 0:
            raise SystemExit(f"teapot serve ended with {code} after SIGTERM:\n" + "".join(server.log[-20:]))
    finally:
        if server.process.poll() is None:
            server.process.kill()
            server.process.wait()
