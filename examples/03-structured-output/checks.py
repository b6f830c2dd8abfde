def has_reasons(output):
    return isinstance(output, dict) and bool(output.get("reasoning"))


def names_the_deadline(text):
    return "deadline" in text or "the answer names no deadline"


def is_short(text):
    return min(1.0, 200 / len(text))
