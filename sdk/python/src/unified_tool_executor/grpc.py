"""Calls and streams over gRPC, for a client that is given this. Needs the extra `grpc`: grpcio and protobuf."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Optional
from urllib.parse import urlsplit


@dataclass(frozen=True)
class Grpc:
    """`url`: where the gateway's port of gRPC is: `https://gateway:50051`, or `http://` for one without TLS."""

    url: str
    credentials: Optional[Any] = None
    """grpc.ChannelCredentials, instead of TLS with the authorities of the system."""

    def __post_init__(self) -> None:
        parts = urlsplit(self.url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError(f"url: expected http:// or https:// and a host, found {self.url!r}")

    @property
    def target(self) -> str:
        parts = urlsplit(self.url)
        return f"{parts.netloc}" if parts.port else f"{parts.netloc}:{443 if self.is_secure else 80}"

    @property
    def is_secure(self) -> bool:
        return urlsplit(self.url).scheme == "https"


__all__ = ["Grpc"]
