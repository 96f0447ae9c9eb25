"""The gateway's side of every agent here: the tools as a provider takes them, and answers to what its model asks for."""

import json
import os
import sys
import time
import urllib.request
import uuid

MODEL_URL = os.environ["MODEL_URL"]
STREAM = os.environ.get("STREAM") == "1"
QUESTION = "How is Bern? Send the money, and show me a map."


def _send(path, body=None, headers=None):
    request = urllib.request.Request(
        os.environ["UTE_URL"] + path,
        data=None if body is None else json.dumps(body).encode(),
        headers={
            "authorization": "Bearer " + os.environ["UTE_API_KEY"],
            "content-type": "application/json",
            **(headers or {}),
        },
    )
    with urllib.request.urlopen(request, timeout=60) as answer:
        return json.load(answer)


def tools_of(form):
    return _send(f"/v1/tools?format={form}")


def answers_to(provider, message):
    """What is to be appended behind the model's message; waits for people where they have to approve a call."""
    key = {"idempotency-key": str(uuid.uuid4())}
    body = {"message": message}
    while True:
        answered = _send(f"/v1/providers/{provider}/tool-calls", body, key)
        if "confirmation_tokens" not in answered:
            return answered["messages"]
        body["confirmation_tokens"] = answered["confirmation_tokens"]
        time.sleep(0.2)


def said(text):
    """The test reads the last word from here."""
    json.dump({"text": text}, sys.stdout)
