"""The package openai for Python."""

import gateway
from openai import OpenAI

client = OpenAI(api_key="none", base_url=gateway.MODEL_URL + "/openai/v1", max_retries=0)
tools = gateway.tools_of("openai")
messages = [{"role": "user", "content": gateway.QUESTION}]


def ask():
    asked = {"model": "test", "messages": messages, "tools": tools}
    if not gateway.STREAM:
        return client.chat.completions.create(**asked)
    with client.chat.completions.stream(**asked) as stream:
        return stream.get_final_completion()


while True:
    message = ask().choices[0].message.to_dict()
    message.pop("parsed", None)
    answers = gateway.answers_to("openai", message)
    if not answers:
        break
    messages += [message, *answers]
gateway.said(message["content"])
