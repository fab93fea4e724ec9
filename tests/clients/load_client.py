"""Many clients at once: python load_client.py TEAPOT MODEL [--clients 24] [--seed 1]

Each reply equals the one that its request gets alone, whatever shares its steps; clients that leave and readers that do not read take
nothing from the others; afterwards nothing runs."""
import argparse, json, os, random, re, socket, sys, tempfile, threading, time, traceback
from teapot_server import Server, serving

QUESTIONS = ["Hello! How are you?", "Tom has 3 apples. Anna has twice as many. How many have both?", "What is the capital of France?",
             "A farmer has twelve cows and sells seven of them on the market. How many are left?", "Count from one to ten."]
SEQUENCES = 4
QUEUE = 3


def chat_body(number, **fields):
    """The request of this number: greedy or seeded."""
    pick = random.Random(number)
    body = {"messages": [{"role": "user", "content": pick.choice(QUESTIONS)}], "max_tokens": pick.randrange(8, 60), "ignore_eos": True}
    if pick.random() < 0.3:
        body["messages"].insert(0, {"role": "system", "content": " ".join(pick.choice(QUESTIONS) for _ in range(pick.randrange(1, 30)))})
    body.update({"temperature": 0} if pick.random() < 0.5 else {"temperature": 1, "seed": number})
    return {**body, **fields}


def connect(server, receive_buffer=None):
    connection = socket.socket()
    connection.settimeout(120)
    if receive_buffer:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
    connection.connect(("127.0.0.1", server.port))
    return connection


def post_bytes(body, path="/v1/chat/completions"):
    data = json.dumps(body).encode()
    return f"POST {path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: {len(data)}\r\n\r\n".encode() + data


def leave(server, body, pick, seconds):
    """Asks, and goes away within so many seconds."""
    with connect(server) as connection:
        connection.sendall(post_bytes({**body, "stream": pick.random() < 0.7}))
        time.sleep(pick.random() * seconds)


def streamed(server, body):
    """-> {choice: (text, finish reason)}, usage"""
    status, _, text = server.request("POST", "/v1/chat/completions", {**body, "stream": True, "stream_options": {"include_usage": True}})
    assert status == 200, text
    texts, reasons, usage = {}, {}, None
    events = [line[6:] for line in text.split("\n") if line.startswith("data: ")]
    assert events[-1] == "[DONE]"
    for event in map(json.loads, events[:-1]):
        assert "error" not in event, event
        usage = event.get("usage") or usage
        for choice in event["choices"]:
            index, delta = choice["index"], choice["delta"]
            assert index not in reasons, "a choice goes on after its end"
            texts[index] = texts.get(index, "") + (delta.get("reasoning_content") or "") + (delta.get("content") or "")
            if choice["finish_reason"]:
                reasons[index] = choice["finish_reason"]
    return {index: (texts[index], reasons[index]) for index in sorted(texts)}, usage


def whole(server, body):
    status, reply = server.post("/v1/chat/completions", body)
    assert status == 200, reply
    assert [choice["index"] for choice in reply["choices"]] == list(range(len(reply["choices"])))
    return {choice["index"]: ((choice["message"].get("reasoning_content") or "") + (choice["message"]["content"] or ""), choice["finish_reason"])
            for choice in reply["choices"]}, reply["usage"]


def metrics(server):
    status, headers, text = server.request("GET", "/metrics")
    assert status == 200 and headers["Content-Type"].startswith("text/plain; version=0.0.4"), headers
    return {name + (labels or ""): float(value)
            for name, labels, value in re.findall(r"^([a-zA-Z_:][\w:]*)(\{[^}]*\})? (\S+)$", text, re.M)}


def total(samples, name):
    found = [value for key, value in samples.items() if key.split("{")[0] == name]
    assert found, f"no {name} in /metrics"
    return sum(found)


def idle(server, seconds=60):
    server.idle(seconds)
    samples = metrics(server)
    assert total(samples, "vllm:num_requests_running") == 0 and total(samples, "vllm:num_requests_waiting") == 0


def crowd(server, clients, seed):
    """Staggered chats, some of which are left: the others' replies are those that they get alone."""
    pick = random.Random(seed)
    seeds = [pick.randrange(1000) for _ in range(clients)]
    alone = {s: streamed(server, chat_body(s))[0] for s in set(seeds)}
    server.post("/reset_prefix_cache", {})
    failures = []

    def ask(number, own):
        time.sleep(own.random() * 0.5)
        body = chat_body(seeds[number])
        try:
            if own.random() < 0.3:  # leaves, maybe before its first token
                return leave(server, {**body, "max_tokens": 500}, own, 0.3)
            got = (streamed if own.random() < 0.7 else whole)(server, body)[0]
            assert got == alone[seeds[number]], f"{body}\nalone {alone[seeds[number]]}\n  now {got}"
        except Exception as error:
            failures.append(f"client {number}: {type(error).__name__} {error}")

    threads = [threading.Thread(target=ask, args=(i, random.Random(seed * 1000 + i))) for i in range(clients)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures, "\n".join(failures)
    idle(server)


def several_choices(server):
    body = chat_body(1, temperature=1, seed=5, n=3)
    one, usage = whole(server, body)
    other, streamed_usage = streamed(server, body)
    assert one == other and sorted(one) == [0, 1, 2]
    assert len({text for text, _ in one.values()}) > 1, "choices differ by what they draw"
    first, first_usage = whole(server, {**body, "n": 1})
    assert first[0] == one[0], "the first choice is the reply of a request with one"
    assert usage["prompt_tokens"] == first_usage["prompt_tokens"] and usage["completion_tokens"] == 3 * body["max_tokens"]
    assert streamed_usage["completion_tokens"] == usage["completion_tokens"]
    status, reply = server.post("/v1/completions", {"prompt": "One two", "max_tokens": 5, "n": 2, "temperature": 0, "ignore_eos": True})
    assert status == 200 and len(reply["choices"]) == 2 and reply["choices"][0]["text"] == reply["choices"][1]["text"]
    status, reply = server.post("/v1/chat/completions", {**body, "n": SEQUENCES + 1})
    assert status == 400 and str(SEQUENCES) in reply["error"]["message"] and str(SEQUENCES + 1) in reply["error"]["message"], reply
    idle(server)


def second_turn_is_cached(server):
    server.post("/reset_prefix_cache", {})
    body = {"temperature": 0, "max_tokens": 20, "messages": [{"role": "system", "content": " ".join(QUESTIONS * 10)}, {"role": "user", "content": QUESTIONS[0]}]}
    ask = lambda: server.post("/v1/chat/completions", body)[1]
    first = ask()
    assert first["usage"]["prompt_tokens_details"]["cached_tokens"] == 0
    body["messages"] += [{"role": "assistant", "content": first["choices"][0]["message"]["content"] or ""}, {"role": "user", "content": QUESTIONS[1]}]
    before = total(metrics(server), "vllm:prefix_cache_hits_total")
    warm = ask()
    cached = warm["usage"]["prompt_tokens_details"]["cached_tokens"]
    assert 0 < cached < warm["usage"]["prompt_tokens"]
    assert total(metrics(server), "vllm:prefix_cache_hits_total") == before + cached
    status, _, text = server.request("POST", "/reset_prefix_cache")
    assert (status, json.loads(text)) == (200, {"status": "ok"})
    cold = ask()
    assert cold["usage"]["prompt_tokens_details"]["cached_tokens"] == 0
    assert cold["choices"][0]["message"] == warm["choices"][0]["message"]


def a_full_queue_is_told(server):
    connections = []
    states = lambda: sorted(sequence["state"] for sequence in server.get("/v1/status")[1]["sequences"])

    def add(count, expected):
        for _ in range(count):
            connections.append(connect(server))
            connections[-1].sendall(post_bytes(chat_body(2, max_tokens=3500, stream=True)))
            connections[-1].recv(1)  # it has been taken
        end = time.monotonic() + 10
        while states() != expected:
            assert time.monotonic() < end, states()

    try:
        add(SEQUENCES, ["decode"] * SEQUENCES)
        add(QUEUE, ["decode"] * SEQUENCES + ["waiting"] * QUEUE)
        status, headers, text = server.request("POST", "/v1/chat/completions", chat_body(3))
        assert status == 429 and int(headers["Retry-After"]) >= 1 and json.loads(text)["error"]["code"] == "queue_full", (status, text)
    finally:
        for connection in connections:
            connection.close()
    idle(server)


def a_reader_that_does_not_read_takes_nothing_from_others(server):
    expected = streamed(server, chat_body(4))[0]
    with connect(server, receive_buffer=4096) as connection:
        connection.sendall(post_bytes(chat_body(5, max_tokens=3000, n=SEQUENCES - 1, stream=True, logprobs=True, top_logprobs=20)))
        while server.get("/health")[1]["running"] == 0:
            time.sleep(0.01)
        assert streamed(server, chat_body(4))[0] == expected
        idle(server)  # while the connection is still open


def a_full_log_stops_nobody(binary, model):
    with serving(binary, model, "--log-file", "/dev/full") as server:
        for seed in range(5):
            streamed(server, chat_body(seed))
        idle(server)
    told = [line for line in server.log if "/dev/full" in line]
    assert len(told) == 1 and "No space left on device" in told[0], told


def requests_are_logged(binary, model):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "log")
        with serving(binary, model, "--log-file", path, "--log-level", "debug") as server:
            streamed(server, chat_body(1, n=2))
            idle(server)
            ask = {"temperature": 0, "max_tokens": 4}
            for end in ("now", "then"):
                server.post("/v1/chat/completions", {**ask, "messages": [{"role": "user", "content": " ".join(QUESTIONS * 20) + end}]})
            idle(server)
        with open(path) as log:
            lines = log.read().splitlines()
        replies = [line for line in lines if re.search(r" info request id=\d+ choice=\d prompt=\d+ cached=\d+ completion=\d+ queue_ms=\S+ ttft_ms=\S+ tpot_ms=\S+ finish=\w+$", line)]
        assert len(replies) == 4, lines
        assert any(re.search(r" debug prompt id=\d+ .*diverges_at=\d+ .*cached_text=\".*\" .*prompt_text=\".*\"", line) for line in lines), lines


def a_log_that_nobody_reads_stops_nobody(binary, model):
    with Server(binary, model, "--log-level", "trace", "--verbose") as server:
        server.reads_log = False
        for _ in range(1500):  # more lines than a pipe holds
            assert server.post("/v1/completions", {"prompt": "a", "max_tokens": 1})[0] == 200
        server.reads_log = True
        end = time.monotonic() + 10
        while not any("lines of the log that were lost" in line for line in server.log):
            assert time.monotonic() < end, "the pipe was not full"
            server.post("/v1/completions", {"prompt": "a", "max_tokens": 1})
        assert server.stop() == 0


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("binary")
    arguments.add_argument("model")
    arguments.add_argument("--clients", type=int, default=24)
    arguments.add_argument("--seed", type=int, default=1)
    arguments = arguments.parse_args()
    failed = passed = 0

    def check(name, test):
        nonlocal failed, passed
        try:
            test()
            passed += 1
        except (Exception, SystemExit):
            failed += 1
            print(f"FAILED {name}")
            traceback.print_exc()

    with serving(arguments.binary, arguments.model, "--max-seqs", str(SEQUENCES), "--max-queue", "4096") as server:
        for round in range(3):
            check("crowd", lambda: crowd(server, arguments.clients, arguments.seed + round))
        for test in [several_choices, second_turn_is_cached, a_reader_that_does_not_read_takes_nothing_from_others]:
            check(test.__name__, lambda: test(server))
    with serving(arguments.binary, arguments.model, "--max-seqs", str(SEQUENCES), "--max-queue", str(QUEUE)) as server:
        check("a_full_queue_is_told", lambda: a_full_queue_is_told(server))
    for test in [a_full_log_stops_nobody, requests_are_logged, a_log_that_nobody_reads_stops_nobody]:
        check(test.__name__, lambda: test(arguments.binary, arguments.model))
    print(f"load: {passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
