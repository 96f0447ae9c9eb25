"""The package google-genai for Python, which writes members in snake_case."""

import gateway
from google import genai
from google.genai import types

client = genai.Client(
    api_key="none", http_options=types.HttpOptions(base_url=gateway.MODEL_URL + "/gemini")
)
config = {"tools": gateway.tools_of("gemini"), "automatic_function_calling": {"disable": True}}
contents = [types.Content(role="user", parts=[types.Part(text=gateway.QUESTION)])]


def ask():
    asked = {"model": "gemini-test", "contents": contents, "config": config}
    if not gateway.STREAM:
        return client.models.generate_content(**asked).candidates[0].content
    parts = []
    for chunk in client.models.generate_content_stream(**asked):
        parts += chunk.candidates[0].content.parts or []
    return types.Content(role="model", parts=[part for part in parts if part.text != ""])


while True:
    content = ask()
    answers = gateway.answers_to("gemini", content.model_dump(mode="json", exclude_none=True))
    if not answers:
        break
    contents += [content, *answers]
gateway.said("".join(part.text or "" for part in content.parts))
