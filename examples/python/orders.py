"""Tools of the example: a generator that reports as it goes, and a function without memory."""

from itertools import groupby


def analyse(orders, context):
    """Each yielded value reaches a caller who streams at once; what is returned is the result."""
    by_month = sorted(orders, key=lambda order: order["date"][:7])
    totals = {}
    for month, found in groupby(by_month, key=lambda order: order["date"][:7]):
        totals[month] = round(sum(order["amount"] for order in found), 2)
        context.progress(len(totals) / 12, f"{month} done")
        yield {"month": month, "total": totals[month]}
    return {"totals": totals, "best": max(totals, key=totals.get) if totals else None}


def fahrenheit(celsius):
    return celsius * 9 / 5 + 32
