"""The package openai for Python, with the Responses API."""

import gateway
from openai import OpenAI

client = OpenAI(api_key="none", base_url=gateway.MODEL_URL + "/openai/v1", max_retries=0)
tools = gateway.tools_of("openai-responses")
items = [{"role": "user", "content": gateway.QUESTION}]


def ask():
    asked = {"model": "test", "input": items, "tools": tools}
    if not gateway.STREAM:
        return client.responses.create(**asked)
    with client.responses.stream(**asked) as stream:
        return stream.get_final_response()


while True:
    response = ask()
    # What the package adds to an item that it has read is none of the provider's.
    output = [item.to_dict(exclude_none=True) for item in response.output]
    for item in output:
        item.pop("parsed_arguments", None)
    answers = gateway.answers_to("openai-responses", {"output": output})
    if not answers:
        break
    items += [*output, *answers]
gateway.said(response.output_text)
