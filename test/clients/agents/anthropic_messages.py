"""The package anthropic for Python."""

import gateway
from anthropic import Anthropic

client = Anthropic(api_key="none", base_url=gateway.MODEL_URL + "/anthropic", max_retries=0)
tools = gateway.tools_of("anthropic")
messages = [{"role": "user", "content": gateway.QUESTION}]


def ask():
    asked = {"model": "test", "max_tokens": 1000, "messages": messages, "tools": tools}
    if not gateway.STREAM:
        return client.messages.create(**asked)
    with client.messages.stream(**asked) as stream:
        return stream.get_final_message()


while True:
    message = ask()
    answers = gateway.answers_to("anthropic", message.to_dict())
    if not answers:
        break
    messages += [{"role": "assistant", "content": message.to_dict()["content"]}, *answers]
gateway.said(message.content[0].text)
