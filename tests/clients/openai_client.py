"""The openai package against `teapot serve`: python openai_client.py TEAPOT MODEL

Each test is a function; the last line says how many passed."""
import json, sys, traceback
import openai
from teapot_server import serving

KEY = "test-key"
WEATHER = {"type": "function", "function": {"name": "get_weather", "description": "The weather in a city",
           "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}}}
HELLO = [{"role": "user", "content": "Hello! How are you?"}]
GREEDY = dict(model="demo", temperature=0)


def refused(kind, call):
    try:
        call()
    except kind as error:
        return error
    raise AssertionError(f"expected {kind.__name__}")


def chat(client):
    reply = client.chat.completions.create(messages=HELLO, max_tokens=60, **GREEDY)
    assert reply.object == "chat.completion" and reply.model == "demo" and reply.id.startswith("chatcmpl-")
    choice = reply.choices[0]
    assert choice.message.role == "assistant" and choice.finish_reason in ("stop", "length")
    assert choice.message.content or choice.message.reasoning_content
    usage = reply.usage
    assert usage.prompt_tokens > 0 and 0 < usage.completion_tokens <= 60 and usage.total_tokens == usage.prompt_tokens + usage.completion_tokens
    assert 0 <= usage.completion_tokens_details.reasoning_tokens <= usage.completion_tokens
    assert reply.timings["decode_ms"] >= 0


def stream_equals_whole(client):
    whole = client.chat.completions.create(messages=HELLO, max_tokens=60, **GREEDY)
    reasoning = content = ""
    roles, finishes, usages = [], [], []
    for chunk in client.chat.completions.create(messages=HELLO, max_tokens=60, stream=True, stream_options={"include_usage": True}, **GREEDY):
        assert chunk.object == "chat.completion.chunk"
        if chunk.usage:
            assert chunk.choices == []
            usages.append(chunk.usage)
        for choice in chunk.choices:
            reasoning += getattr(choice.delta, "reasoning_content", None) or ""
            content += choice.delta.content or ""
            if choice.delta.role:
                roles.append(choice.delta.role)
            if choice.finish_reason:
                assert not choice.delta.content
                finishes.append(choice.finish_reason)
    message = whole.choices[0].message
    assert (reasoning, content) == (getattr(message, "reasoning_content", None) or "", message.content or "")
    assert roles == ["assistant"] and finishes == [whole.choices[0].finish_reason]
    assert len(usages) == 1 and usages[0].completion_tokens == whole.usage.completion_tokens


def no_usage_unasked(client):
    for chunk in client.chat.completions.create(messages=HELLO, max_tokens=5, stream=True, **GREEDY):
        assert chunk.usage is None and len(chunk.choices) == 1


def tool_call(client):
    ask = dict(messages=[{"role": "user", "content": "What is the weather in Paris?"}], tools=[WEATHER], max_tokens=200, **GREEDY)
    reply = client.chat.completions.create(**ask).choices[0]
    assert reply.finish_reason == "tool_calls", reply
    call = reply.message.tool_calls[0]
    assert call.type == "function" and call.function.name == "get_weather"
    assert "city" in json.loads(call.function.arguments)
    streamed = [c for chunk in client.chat.completions.create(stream=True, **ask) for ch in chunk.choices for c in ch.delta.tool_calls or []]
    assert streamed[0].index == 0 and streamed[0].function.arguments == call.function.arguments
    # The result goes back, with the arguments as the text that they came as.
    messages = ask["messages"] + [reply.message.model_dump(), {"role": "tool", "tool_call_id": call.id, "content": "sunny, 21 degrees"}]
    answer = client.chat.completions.create(messages=messages, tools=[WEATHER], max_tokens=100, **GREEDY)
    assert answer.choices[0].message.content or answer.choices[0].message.reasoning_content
    none = client.chat.completions.create(**{**ask, "tool_choice": "none"})
    assert none.choices[0].message.tool_calls is None


def thinking_off(client):
    reply = client.chat.completions.create(messages=HELLO, max_tokens=60, extra_body={"chat_template_kwargs": {"enable_thinking": False}}, **GREEDY)
    assert reply.choices[0].message.content and getattr(reply.choices[0].message, "reasoning_content", None) is None
    assert reply.usage.completion_tokens_details.reasoning_tokens == 0


def content_parts_and_developer(client):
    parts = [{"role": "developer", "content": "Be brief."}, {"role": "user", "content": [{"type": "text", "text": "Hello!"}, {"type": "text", "text": " How are you?"}]}]
    plain = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Hello! How are you?"}]
    a, b = (client.chat.completions.create(messages=m, max_tokens=30, **GREEDY) for m in (parts, plain))
    assert a.usage.prompt_tokens == b.usage.prompt_tokens and a.choices[0].message == b.choices[0].message


def seeded(client):
    ask = dict(model="demo", messages=[{"role": "user", "content": "Tom has 3 apples. Anna has twice as many. How many have both?"}], max_tokens=60, temperature=1.0, seed=7)
    one, two = (client.chat.completions.create(**ask).choices[0].message for _ in range(2))
    assert one == two
    assert any(client.chat.completions.create(**{**ask, "seed": s}).choices[0].message != one for s in (8, 9, 10))


def several_choices(client):
    ask = dict(model="demo", messages=HELLO, max_tokens=20, temperature=1.0, seed=7, n=3)
    text = lambda message: (getattr(message, "reasoning_content", None) or "") + (message.content or "")
    reply = client.chat.completions.create(**ask)
    assert [choice.index for choice in reply.choices] == [0, 1, 2]
    streamed = {0: "", 1: "", 2: ""}
    for chunk in client.chat.completions.create(stream=True, **ask):
        for choice in chunk.choices:
            streamed[choice.index] += text(choice.delta)
    assert streamed == {choice.index: text(choice.message) for choice in reply.choices}
    assert reply.usage.completion_tokens <= 60 and reply.usage.prompt_tokens_details.cached_tokens >= 0


def stop_string(client):
    whole = client.completions.create(prompt="One two three four five", max_tokens=40, **GREEDY).choices[0].text
    stop = whole[3:7]
    cut = client.completions.create(prompt="One two three four five", max_tokens=40, stop=[stop], **GREEDY).choices[0]
    assert cut.text == whole[:whole.index(stop)] and cut.finish_reason == "stop"


def length_and_min_tokens(client):
    reply = client.chat.completions.create(messages=HELLO, max_tokens=7, **GREEDY)
    assert reply.choices[0].finish_reason == "length" and reply.usage.completion_tokens == 7
    reply = client.chat.completions.create(messages=HELLO, max_completion_tokens=150, extra_body={"min_tokens": 150}, **GREEDY)
    assert reply.usage.completion_tokens == 150
    reply = client.chat.completions.create(messages=HELLO, max_tokens=150, extra_body={"ignore_eos": True}, **GREEDY)
    assert reply.usage.completion_tokens == 150


def logprobs(client):
    reply = client.chat.completions.create(messages=HELLO, max_tokens=5, logprobs=True, top_logprobs=3, **GREEDY)
    entries = reply.choices[0].logprobs.content
    assert len(entries) == 5
    for entry in entries:
        assert len(entry.top_logprobs) == 3 and entry.top_logprobs[0].logprob == entry.logprob <= 0
    biased = client.chat.completions.create(messages=HELLO, max_tokens=5, logit_bias={"100": 100}, **GREEDY)
    assert biased.usage.completion_tokens == 5


def completions(client):
    whole = client.completions.create(prompt="The farmer has", max_tokens=20, echo=True, logprobs=2, **GREEDY)
    choice = whole.choices[0]
    assert whole.object == "text_completion" and choice.text.startswith("The farmer has")
    assert choice.logprobs.token_logprobs[0] is None and len(choice.logprobs.tokens) == whole.usage.prompt_tokens + 20 == len(choice.logprobs.text_offset)
    text = "".join(c.choices[0].text for c in client.completions.create(prompt="The farmer has", max_tokens=20, echo=True, stream=True, **GREEDY))
    assert text == choice.text
    ids = client.completions.create(prompt=[10, 20, 30], max_tokens=4, extra_body={"ignore_eos": True}, **GREEDY)
    assert ids.usage.prompt_tokens == 3 and ids.usage.completion_tokens == 4


def models(client):
    assert [m.id for m in client.models.list()] == ["demo"]


def bad_requests(client):
    create = client.chat.completions.create
    for params, field in [
        (dict(temperature=-1), "temperature"), (dict(top_p=2), "top_p"), (dict(max_tokens=0), "max_tokens"), (dict(n=9), "n"),
        (dict(response_format={"type": "json_object"}), "response_format"), (dict(tools=[WEATHER], tool_choice="required"), "tool_choice"),
        (dict(stop=[""]), "stop"), (dict(logit_bias={"999999999": 1}), "logit_bias"), (dict(top_logprobs=3), "top_logprobs"),
        (dict(extra_body={"min_p": "a"}), "min_p"), (dict(messages=[{"role": "wizard", "content": "x"}]), "messages[0].role"),
        (dict(messages=[{"role": "user", "content": [{"type": "image_url", "image_url": {"url": "x"}}]}]), "messages[0].content[0].type"),
    ]:
        error = refused(openai.BadRequestError, lambda: create(**{**dict(model="demo", messages=HELLO), **params}))
        assert error.param == field, (error.param, field, error)
        assert field.split("[")[0] in error.message, error.message
    template = refused(openai.BadRequestError, lambda: create(model="demo", messages=[{"role": "user", "content": "a"}, {"role": "system", "content": "b"}]))
    assert "system message must come first" in template.message
    long = refused(openai.BadRequestError, lambda: create(model="demo", messages=[{"role": "user", "content": "word " * 9000}]))
    assert long.code == "context_length_exceeded" and "4096" in long.message, long
    refused(openai.NotFoundError, lambda: create(model="other", messages=HELLO))
    other = client.with_options(api_key="wrong")
    refused(openai.AuthenticationError, lambda: other.models.list())


def raw_http(server):
    auth = {"Authorization": f"Bearer {KEY}"}
    assert server.request("GET", "/nowhere", headers=auth)[0] == 404
    status, headers, _ = server.request("GET", "/v1/chat/completions", headers=auth)
    assert status == 405 and headers["Allow"] == "POST"
    assert server.request("POST", "/v1/chat/completions", b"{not json", auth)[0] == 400
    assert server.request("POST", "/v1/chat/completions", b"[]", auth)[0] == 400
    assert server.request("GET", "/v1/models")[0] == 401
    assert server.request("GET", "/v1/models", headers={"Authorization": f"bearer {KEY}"})[0] == 200
    assert server.get("/version")[1]["version"]
    status, tokens = server.post("/tokenize", {"prompt": "Hello there, <think>"}, auth)
    assert status == 200 and tokens["count"] == len(tokens["tokens"]) > 2
    assert server.post("/detokenize", {"tokens": tokens["tokens"]}, auth)[1]["prompt"] == "Hello there, <think>"
    assert server.post("/tokenize", {"messages": HELLO}, auth)[1]["count"] > 5
    status, _, text = server.request("POST", "/v1/chat/completions", {"messages": HELLO, "max_tokens": 3, "stream": True, "unknown": 1}, auth)
    assert status == 200 and text.rstrip().endswith("data: [DONE]")


def main():
    binary, model = sys.argv[1:]
    failed = passed = 0
    with serving(binary, model, "--api-key", KEY, "--served-name", "demo") as server:
        client = openai.OpenAI(base_url=server.url + "/v1", api_key=KEY, max_retries=0)
        tests = [chat, stream_equals_whole, no_usage_unasked, tool_call, thinking_off, content_parts_and_developer, seeded, several_choices, stop_string,
                 length_and_min_tokens, logprobs, completions, models, bad_requests]
        for test, subject in [(t, client) for t in tests] + [(raw_http, server)]:
            try:
                test(subject)
                passed += 1
            except Exception:
                failed += 1
                print(f"FAILED {test.__name__}")
                traceback.print_exc()
        server.idle()
    print(f"openai: {passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
