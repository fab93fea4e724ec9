"""POST /v1/profile of a running server, read again by `teapot profile import`: python profile_client.py TEAPOT MODEL"""
import json, os, socket, subprocess, sys, tempfile, threading, time
from teapot_server import run_tests, serving

CHAT = {"messages": [{"role": "user", "content": "Hello! How are you?"}], "temperature": 0, "ignore_eos": True, "max_tokens": 60}


def profile(server, body, **headers):
    status, _, text = server.request("POST", "/v1/profile", body, headers)
    return status, json.loads(text)


def chatting(server, requests=1, **fields):
    """Requests beside what the caller does."""
    threads = [threading.Thread(target=server.post, args=("/v1/chat/completions", {**CHAT, **fields})) for _ in range(requests)]
    for thread in threads:
        thread.start()
    return threads


def imported(binary, trace, *options):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "trace.json")
        with open(path, "w") as file:
            json.dump(trace, file)
        run = subprocess.run([binary, "profile", "import", path, "--json", *options], stdout=subprocess.PIPE, text=True)
        return run.returncode, json.loads(run.stdout)


def steps_of_a_live_engine(binary, model):
    with serving(binary, model) as server:
        answer = []
        recording = threading.Thread(target=lambda: answer.append(profile(server, {"steps": 15})))
        recording.start()
        time.sleep(0.3)
        chats = chatting(server, 3)
        recording.join()
        for chat in chats:
            chat.join()
        status, trace = answer[0]
        assert status == 200, trace
        about = trace["otherData"]
        assert about["steps"] == 15 and about["ended_by"] == "steps" and about["page_faults_by"] in ("perf_event", "getrusage"), about
        code, found = imported(binary, trace, "--roof", "20")
        assert code == 0 and found["format"] == "teapot", found
        assert not found["warnings"], found["warnings"]
        assert len(found["steps"]) == 15, len(found["steps"])
        for step in found["steps"]:
            assert sum(step["classes_ns"].values()) == step["end_ns"] - step["start_ns"], step
            assert step["classes_ns"]["unattributed"] == 0 and step["classes_ns"]["bandwidth"] > 0, step
            assert step["page_faults"] >= 0, step
        kinds = {step["kind"] for step in found["steps"]}
        assert kinds & {"prefill", "prefill+decode"} and kinds & {"decode", "verify"}, kinds
        assert found["workers"] == about["workers"], found["workers"]


def time_without_requests_is_no_step(binary, model):
    with serving(binary, model) as server:
        answer = []
        recording = threading.Thread(target=lambda: answer.append(profile(server, {"steps": 8})))
        recording.start()
        time.sleep(0.2)
        server.post("/v1/chat/completions", {**CHAT, "max_tokens": 4})
        time.sleep(1)
        for _ in range(8):
            server.post("/v1/chat/completions", {**CHAT, "max_tokens": 4})
        recording.join()
        status, trace = answer[0]
        assert status == 200, trace
        code, found = imported(binary, trace)
        assert code == 0, found
        assert found["pauses_ns"] > 0.9e9, found.get("pauses_ns")
        assert all(step["wall_us"] < 0.5e6 for step in found["steps"]), [step["wall_us"] for step in found["steps"]]


def what_was_recorded_until_the_time_was_over(binary, model):
    with serving(binary, model) as server:
        started = time.monotonic()
        status, trace = profile(server, {"steps": 10, "timeout_s": 0.5})
        assert status == 200 and 0.4 < time.monotonic() - started < 5
        assert trace["otherData"]["steps"] == 0 and trace["otherData"]["ended_by"] == "time", trace["otherData"]
        answer = []
        recording = threading.Thread(target=lambda: answer.append(profile(server, {"steps": 1000, "timeout_s": 1.5})))
        recording.start()
        time.sleep(0.3)
        chats = chatting(server, max_tokens=20)
        for chat in chats:
            chat.join()
        recording.join()
        status, trace = answer[0]
        assert status == 200 and 0 < trace["otherData"]["steps"] < 1000, trace["otherData"]


def one_at_a_time(binary, model):
    with serving(binary, model) as server:
        first = threading.Thread(target=profile, args=(server, {"steps": 10, "timeout_s": 2}))
        first.start()
        time.sleep(0.5)
        status, error = profile(server, {"steps": 10})
        assert status == 409 and "somebody else" in error["error"]["message"], error
        first.join()
        assert profile(server, {"steps": 10, "timeout_s": 0.1})[0] == 200


def who_leaves_makes_room(binary, model):
    with serving(binary, model) as server:
        connection = socket.create_connection(("127.0.0.1", server.port))
        body = b'{"steps": 10, "timeout_s": 600}'
        connection.sendall(b"POST /v1/profile HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n" % len(body) + body)
        time.sleep(0.3)
        assert profile(server, {"steps": 10})[0] == 409
        connection.close()
        end = time.monotonic() + 10
        while profile(server, {"steps": 1, "timeout_s": 0.05})[0] != 200:
            assert time.monotonic() < end, "the place of a client that left is still taken"
            time.sleep(0.05)


def bodies_that_are_wrong(binary, model):
    with serving(binary, model) as server:
        for body, part in ((b"{", "request body"), ({}, "'steps' is missing"), ({"steps": 0}, "between 1 and 1000"),
                           ({"steps": 5, "stepps": 5}, "'stepps' is no field here; expected: steps, timeout_s"),
                           ({"steps": "5"}, "an integer"), ({"steps": 5, "timeout_s": -1}, "between 0.001 and 600")):
            status, error = profile(server, body)
            assert status == 400 and part in error["error"]["message"], (body, error)
        status, headers, _ = server.request("GET", "/v1/profile")
        assert status == 405 and headers["Allow"] == "POST"


def address_of_this_host():
    """One that is not loopback; None without a network."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))  # sends nothing
            return probe.getsockname()[0]
        except OSError:
            return None


def others_need_the_key(binary, model):
    away = address_of_this_host()
    if away is None or away.startswith("127."):
        print("profile: no address but loopback here: 403 is not looked at")
        return
    with serving(binary, model, "--host", "0.0.0.0") as server:
        server.url = f"http://{away}:{server.port}"
        status, error = profile(server, {"steps": 1, "timeout_s": 0.1})
        assert status == 403 and "--api-key" in error["error"]["message"], error
        server.url = f"http://127.0.0.1:{server.port}"
        assert profile(server, {"steps": 1, "timeout_s": 0.1})[0] == 200
    with serving(binary, model, "--host", "0.0.0.0", "--api-key", "secret") as server:
        assert profile(server, {"steps": 1, "timeout_s": 0.1})[0] == 401
        server.url = f"http://{away}:{server.port}"
        assert profile(server, {"steps": 1, "timeout_s": 0.1}, Authorization="Bearer secret")[0] == 200


def main():
    binary, model = sys.argv[1:]
    tests = [steps_of_a_live_engine, time_without_requests_is_no_step, what_was_recorded_until_the_time_was_over, one_at_a_time,
             who_leaves_makes_room, bodies_that_are_wrong, others_need_the_key]
    return run_tests("profile", tests, binary, model)


if __name__ == "__main__":
    sys.exit(main())
