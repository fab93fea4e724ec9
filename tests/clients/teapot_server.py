"""Starts `teapot serve` on a free port, waits until it is ready, ends it with SIGTERM and checks how it ended."""
import contextlib, json, re, shutil, signal, subprocess, sys, threading, time, traceback, urllib.error, urllib.request


class Server:
    def __init__(self, binary, model, *options, ready=True):
        self.log = []
        self.reads_log = True  # False: what the server logs stays in its pipe
        self.process = subprocess.Popen([binary, "serve", model, "--port", "0", *options], stderr=subprocess.PIPE, text=True)
        self.port = None
        threading.Thread(target=self._read, daemon=True).start()
        self._wait(lambda: self.port is not None, "the port")
        self.url = f"http://127.0.0.1:{self.port}"
        if ready:
            self._wait(lambda: self.get("/health")[0] == 200, "the model")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()

    def _read(self):
        for line in self.process.stderr:
            self.log.append(line)
            while not self.reads_log:
                time.sleep(0.01)
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

    def stop(self, seconds=35):
        """SIGTERM, then the exit code. The time is a little more than the default grace and less than what `teapot serve` gives itself
        beyond it, so that a stop that hangs can still be looked at."""
        self.process.send_signal(signal.SIGTERM)
        return self.wait(seconds)

    def wait(self, seconds):
        try:
            return self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            print(f"teapot serve has not ended after {seconds} s; its log:\n" + "".join(self.log[-50:]), file=sys.stderr)
            print(self.stacks(), file=sys.stderr)
            raise SystemExit("teapot serve did not stop") from None

    def stacks(self):
        if shutil.which("gdb") is None:
            return "(no gdb: no stacks)"
        command = ["gdb", "-p", str(self.process.pid), "-batch", "-ex", "thread apply all bt"]
        try:
            return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=60).stdout
        except subprocess.TimeoutExpired:
            return "(gdb took more than 60 s)"


@contextlib.contextmanager
def serving(binary, model, *options):
    with Server(binary, model, *options) as server:
        yield server
        code = server.stop()
        if code != 0:
            raise SystemExit(f"teapot serve ended with {code} after SIGTERM:\n" + "".join(server.log[-20:]))


def run_tests(name, tests, binary, model):
    """Each of them, whatever became of those before; the exit code."""
    failed = 0
    for test in tests:
        try:
            test(binary, model)
        except (Exception, SystemExit):
            failed += 1
            print(f"FAILED {test.__name__}")
            traceback.print_exc()
    print(f"{name}: {len(tests) - failed} passed, {failed} failed")
    return 1 if failed else 0
