"""SIGTERM at bad moments: python stop_client.py TEAPOT MODEL [--rounds 5]

Whatever connections do, the server ends with 0, in time, and what runs may end first."""
import argparse, json, signal, socket, sys, time
from teapot_server import Server, run_tests

ENDLESS = {"messages": [{"role": "user", "content": "Hello! How are you?"}], "temperature": 0, "ignore_eos": True, "max_tokens": 3500}


def connect(server):
    return socket.create_connection(("127.0.0.1", server.port), timeout=60)


def get(path):
    return f"GET {path} HTTP/1.1\r\nHost: x\r\n\r\n".encode()


def post(path, body):
    data = json.dumps(body).encode()
    return f"POST {path} HTTP/1.1\r\nHost: x\r\nContent-Length: {len(data)}\r\n\r\n".encode() + data


def read_all(connection):
    got = b""
    while part := connection.recv(65536):
        got += part
    return got


def ended(server, code, started, seconds):
    assert code == 0, f"ended with {code}:\n" + "".join(server.log[-20:])
    took = time.monotonic() - started
    assert took < seconds, f"took {took:.1f} s of {seconds}"


def stop(server, seconds=10):
    started = time.monotonic()
    ended(server, server.stop(seconds), started, seconds)


# Each starts its own server and stops it.
def idle_connections(binary, model):
    with Server(binary, model) as server:
        connections = [connect(server) for _ in range(200)]
        for i, connection in enumerate(connections):
            connection.sendall(get("/health") if i % 3 else b"GET /hea")
        for i, connection in enumerate(connections):
            if i % 3:
                assert connection.recv(4096).startswith(b"HTTP/1.1 200")
        stop(server)


def aborted_and_pipelined(binary, model):
    with Server(binary, model) as server:
        for _ in range(8):
            with connect(server) as connection:
                connection.sendall(post("/v1/chat/completions", {**ENDLESS, "stream": True}))
                connection.recv(100)
        pipelined = connect(server)
        pipelined.sendall(get("/health") * 50)
        server.idle()
        stop(server)


def a_running_reply_ends_first(binary, model):
    with Server(binary, model) as server:
        connection = connect(server)
        connection.sendall(post("/v1/chat/completions", {**ENDLESS, "max_tokens": 300, "stream": True}))
        got = connection.recv(300)
        server.process.send_signal(signal.SIGTERM)
        started = time.monotonic()
        got += read_all(connection)
        assert got.endswith(b"data: [DONE]\n\n\r\n0\r\n\r\n"), got[-200:]
        ended(server, server.wait(30), started, 30)


def replies_beyond_the_grace_are_dropped(binary, model):
    with Server(binary, model, "--grace", "0.2") as server:
        connections = [connect(server) for _ in range(8)]
        for i, connection in enumerate(connections):
            connection.sendall(post("/v1/chat/completions", {**ENDLESS, "stream": i % 2 == 0}))
        connections[0].recv(300)  # one runs; the others wait, or do not read their reply
        stop(server)


def the_second_signal_drops_at_once(binary, model):
    with Server(binary, model) as server:
        connection = connect(server)
        connection.sendall(post("/v1/chat/completions", {**ENDLESS, "stream": True}))
        connection.recv(300)
        server.process.send_signal(signal.SIGINT)
        while not any("no new requests" in line for line in server.log):
            time.sleep(0.01)
        stop(server)


def while_loading(binary, model):
    with Server(binary, model, ready=False) as server:
        stop(server)


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("binary")
    arguments.add_argument("model")
    arguments.add_argument("--rounds", type=int, default=5)
    arguments = arguments.parse_args()
    tests = [idle_connections, aborted_and_pipelined, a_running_reply_ends_first, replies_beyond_the_grace_are_dropped,
             the_second_signal_drops_at_once, while_loading]
    return run_tests("stop", tests * arguments.rounds, arguments.binary, arguments.model)


if __name__ == "__main__":
    sys.exit(main())
