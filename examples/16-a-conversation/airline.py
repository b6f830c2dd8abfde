"""An agent of an airline with two tools. It forgets to ask before it charges."""

import re

FEES = {"EHGLP3": 0, "QX7TTN": 80}


def call(tool, code, output):
    return {"tool": tool, "input": {"code": code}, "output": output}


def answer(messages):
    said = [message.text for message in messages if message.role == "user"]
    codes = re.findall(r"\b[A-Z0-9]{6}\b", " ".join(said))
    if not codes:
        return "Which reservation is it? Its code has six letters and digits."
    code, fee = codes[-1], FEES[codes[-1]]
    calls = [call("look_up", code, {"fee": fee}), call("cancel", code, {"charged": fee})]
    text = f"{code} is cancelled. I have charged {fee} dollars."
    return {"role": "assistant", "content": text, "tool_calls": calls}
