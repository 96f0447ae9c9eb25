"""The gateway that test/sdk/python-client.test.ts started, and the network that loses things before it."""

import itertools
import json
import os

import httpx
import pytest

from unified_tool_executor import AsyncGatewayClient, GatewayClient

GIVEN = json.loads(os.environ["UTE_SDK_TEST"])
_readers = itertools.count()


class Rough:
    def __init__(self, fault, times):
        self._reader = f"python-{os.getpid()}-{next(_readers)}"
        self.url = f"{GIVEN['network']}/{self._reader}/{fault}:{times}"

    def seen(self):
        return httpx.get(f"{GIVEN['network']}/{self._reader}/none:0/seen", trust_env=False).json()


@pytest.fixture
def given():
    return GIVEN


@pytest.fixture
def client():
    with GatewayClient(GIVEN["url"], api_key=GIVEN["agent"]) as made:
        yield made


@pytest.fixture
def admin():
    with GatewayClient(GIVEN["url"], api_key=GIVEN["admin"]) as made:
        yield made


@pytest.fixture
def behind():
    """A client behind the network that loses things, and what it sent."""
    made = []

    def make(fault, times=1, kind=GatewayClient, **options):
        rough = Rough(fault, times)
        made.append(kind(rough.url, api_key=GIVEN["agent"], **options))
        return made[-1], rough.seen

    yield make
    for each in made:
        if isinstance(each, GatewayClient):
            each.close()


@pytest.fixture
def async_client():
    return lambda **options: AsyncGatewayClient(GIVEN["url"], api_key=GIVEN["agent"], **options)
