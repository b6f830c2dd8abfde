"""A travel guide that knows two cities. Rules stand in for the model, so that it runs offline."""

from __future__ import annotations

COUNTRIES = {"Oslo": "Norway", "Lima": "Peru"}


def answer(messages: list[dict[str, str]]) -> str:
    """The country; in German only if that is asked for politely."""
    question = messages[-1]["content"]
    city = next((city for city in COUNTRIES if city in question), "")
    country = COUNTRIES.get(city, "I don't know.")
    if "Bitte" in question:
        return {"Norway": "Norwegen"}.get(country, country)
    return country
