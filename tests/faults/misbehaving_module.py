"""How a module begins that has misbehaving code in it: what its functions use."""

START = '''
import asyncio, builtins, gc, logging, math, os, signal, sys, threading, time, warnings
from evalcase import Answer, Grade, Message, Question, Score, Target, TargetError, Usage

class OutcomeError(BaseException):
    """As test frameworks have them."""

class Unspeakable(Exception):
    def __str__(self):
        raise SystemExit(0)
    __repr__ = __str__

class Rude(str):
    """Text that can't be looked at."""
    def __repr__(self, *_):
        raise SystemExit(0)
    __str__ = __format__ = __eq__ = __hash__ = __len__ = __bool__ = __repr__

def nested(depth):
    value = []
    for _ in range(depth):
        value = [value]
    return value

def endless():
    value = []
    value.append(value)
    return value

def text_message(**fields):
    return Message({"role": "assistant", "content": "ok", **fields})

def recurse():
    return recurse()

async def sleep_for_ever():
    await asyncio.Event().wait()

async def leave():
    sys.exit(0)

KEPT = []
'''
