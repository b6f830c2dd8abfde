"""What agents and graders may do to the process that they are in, as a part of an agent."""

DEATHS = """
import ctypes
import gc


def write_to_run(data):
    # Of the pipes that a worker holds beside its own three, one leads to the run.
    for number in range(3, 64):
        try:
            if os.readlink(f"/proc/self/fd/{number}").startswith("pipe:"):
                os.write(number, data)
        except OSError:
            pass


def answer_in_place_of(numbers, body):
    for number in numbers:
        reply = f'{{"type": "reply", "number": {number}, "body": {body}}}\\n'
        write_to_run(reply.encode())


def numbers_under_way():
    # Whoever searches the memory of a worker finds what it was asked.
    (service,) = [each for each in gc.get_objects() if type(each).__name__ == "Service"]
    return list(service._under_way)


def dying(question: Question):
    note("calls", question.case)
    if question.text == "exit":
        os._exit(7)
    if question.text == "crash":
        ctypes.string_at(0)
    if question.text == "say closed and exit":
        write_to_run(b'{"type": "ending"}\\n')
        os._exit(3)
    if question.text.startswith("look "):
        body = question.text.removeprefix("look ")
        answer_in_place_of(numbers_under_way(), body)
    if question.text.startswith("grow "):
        held = bytearray(int(question.text.removeprefix("grow ")) * 1_000_000)
        threading.Event().wait()
    return "ok"


async def blocking(question: Question):
    if question.text == "block":
        threading.Event().wait()
    return "ok"


async def stray(question: Question):
    loop = asyncio.get_running_loop()
    if question.text == "stop":
        loop.stop()
    if question.text == "exit beside":
        loop.call_soon(sys.exit, 0)
    if question.text == "cancel all":
        for task in asyncio.all_tasks() - {asyncio.current_task()}:
            task.cancel()
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    return "ok"


async def blocks(text):
    if text == "block":
        threading.Event().wait()
    return text == "ok"


def graded(text):
    if "die" in text:
        os._exit(5)
    return text == "ok"


def told(question: Question):
    print("said by the agent")
    return " ".join(f"{name}={os.environ.get(name)}" for name in question.text.split())


def loads_key(question: Question):
    os.environ["LOADED_KEY"] = "sk-98765432-loaded"
    print("it is sk-98765432-loaded")
    return "it is sk-98765432-loaded"


def finds_key(text):
    return "98765432" in text


def judge(question: Question):
    note("judged", question.case)
    return {"messages": [{"role": "assistant", "content": "pass"}], "cost_usd": 0.25}


class Remembering:
    def __init__(self, session):
        self.heard = []

    def answer(self, question: Question):
        note("turns", f"{question.case}:{question.turn}")
        self.heard.append(question.text)
        if question.text == "die" or (question.text == "die once" and calls_of("odd") == 0):
            note("calls", question.case)
            os._exit(7)
        return " ".join(self.heard)


async def asks(context):
    answer = await context.ask("judge", [{"role": "user", "content": "well?"}])
    return answer.text == "pass"
"""
