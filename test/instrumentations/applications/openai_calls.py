"""Calls chat completions with OpenAI's SDK: a whole answer, a stream, and a call that fails."""

import openai

from exporting import MODEL, QUESTION, UNKNOWN_MODEL


def call_with_openai() -> None:
    client = openai.OpenAI(max_retries=0)
    messages = [{"role": "user", "content": QUESTION}]
    client.chat.completions.create(model=MODEL, messages=messages)
    stream = client.chat.completions.create(
        model=MODEL, messages=messages, stream=True, stream_options={"include_usage": True}
    )
    for _ in stream:
        pass
    try:
        client.chat.completions.create(model=UNKNOWN_MODEL, messages=messages)
    except openai.NotFoundError:
        pass
