"""Two tools. Everything the gateway needs to know stands in the functions themselves."""

import enum
from dataclasses import dataclass
from datetime import date
from typing import Annotated, TypedDict

from unified_tools import ToolError, tool

PRICES = {"standard": 4.9, "express": 12.5}


class Speed(enum.Enum):
    STANDARD = "standard"
    EXPRESS = "express"


@dataclass
class Parcel:
    weight_kg: Annotated[float, "What it weighs", {"exclusiveMinimum": 0, "maximum": 30}]
    fragile: bool = False


class Quote(TypedDict):
    price: float
    arrives_by: str


@tool(read_only=True, idempotent=True, tags=["shop"], timeout_ms=2_000)
def shipping_quote(parcels: list[Parcel], ship_on: date, speed: Speed = Speed.STANDARD) -> Quote:
    """Says what shipping costs and when it arrives.

    Fragile parcels cost two more each.

    Args:
        parcels: What is to be sent, at most ten.
        ship_on: The day the parcels are picked up.
        speed: How fast.
    """
    if len(parcels) > 10:
        raise ToolError("VALIDATION", "At most ten parcels can be sent together.")
    days = 1 if speed is Speed.EXPRESS else 4
    price = sum(PRICES[speed.value] + 0.5 * each.weight_kg + (2 if each.fragile else 0) for each in parcels)
    return {"price": round(price, 2), "arrives_by": date.fromordinal(ship_on.toordinal() + days).isoformat()}


@tool(risk_level="medium", permissions=["shop:cancel"], tags=["shop"])
def cancel_order(context, order_id: Annotated[str, "As printed on the invoice", {"pattern": "^A[0-9]{4}$"}]) -> str:
    """Cancels an order."""
    return f"{order_id} was cancelled for {context['tenant_id']}"
