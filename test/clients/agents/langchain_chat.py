"""The packages langchain-core and langchain-openai for Python."""

import gateway
from langchain_core.messages import HumanMessage, ToolMessage
from langchain_openai import ChatOpenAI

model = ChatOpenAI(
    model="test", api_key="none", base_url=gateway.MODEL_URL + "/openai/v1", max_retries=0, streaming=gateway.STREAM
).bind_tools(gateway.tools_of("openai"))
messages = [HumanMessage(gateway.QUESTION)]


def ask():
    if not gateway.STREAM:
        return model.invoke(messages)
    whole = None
    for chunk in model.stream(messages):
        whole = chunk if whole is None else whole + chunk
    return whole


while True:
    message = ask()
    answers = gateway.answers_to("openai", message.tool_calls)
    if not answers:
        break
    messages.append(message)
    messages += [ToolMessage(answer["content"], tool_call_id=answer["tool_call_id"]) for answer in answers]
gateway.said(message.content)
