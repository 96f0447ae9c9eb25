"""An agent of LangChain with the tools of the gateway: what is dangerous waits for a human."""

import json
import os
import sys

from langchain_core.messages import HumanMessage
from langchain_openai import ChatOpenAI
from unified_tool_executor import GatewayClient

gateway = GatewayClient()  # UTE_URL and UTE_API_KEY
call = {
    "wait_for_approval": True,
    "approval_poll": 0.5,
    "on_approval": lambda asked: print(f"waits for approval {asked.approval_id}"),
}
tools = {each.name: each for each in gateway.toolbox(call=call).langchain()}
base_url = os.environ.get("OPENAI_BASE_URL")
chat = ChatOpenAI(model=os.environ.get("MODEL", "gpt-5-mini"), base_url=base_url).bind_tools(list(tools.values()))  # OPENAI_API_KEY
messages = [HumanMessage(" ".join(sys.argv[1:]))]

for _ in range(8):
    said = chat.invoke(messages)
    messages.append(said)
    if not said.tool_calls:
        break
    for asked in said.tool_calls:
        answer = tools[asked["name"]].invoke(asked)
        print(f"{asked['name']} {json.dumps(asked['args'])}: {answer.content}")
        messages.append(answer)
print(messages[-1].content)
