def tone(text):
    return "sorry" in text.lower() or "it doesn't say sorry"
