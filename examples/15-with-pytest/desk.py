def answer(question):
    if "open" in question:
        return "We are open from 9 to 17."
    return "You are welcome."
