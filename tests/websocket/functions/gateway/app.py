"""A function that does as it is told, for tests of the local API Gateway.

A message is a word and an argument: what it says is what happens. Every event is also written down,
one JSON line each, in the file that EVENTS names.
"""

import json
import os
import threading
import time

ticks = 0
answered = 0


def handler(event, context):
    global answered
    answered += 1
    note(event)
    kind = event["requestContext"]["eventType"]
    if kind == "CONNECT":
        return connect(event.get("queryStringParameters", {}))
    if kind == "DISCONNECT":
        return {"statusCode": 200}
    word, _, argument = event["body"].partition(" ")
    return COMMANDS[word](argument, context)


def note(event):
    with open(os.environ["EVENTS"], "a") as file:
        file.write(json.dumps(event) + "\n")


def connect(query):
    if "raise" in query:
        raise RuntimeError("asked to")
    time.sleep(float(query.get("sleep", 0)))
    return {"statusCode": int(query.get("status", 200)), "body": query.get("body", "")}


def say(text, context=None):
    return {"statusCode": 200, "body": text}


def sleep(seconds, context):
    time.sleep(float(seconds))
    return say(f"slept {seconds}")


def write_later(argument, context):
    """Past its time-out a function would still do this, if it lived."""
    path, seconds = argument.split()
    time.sleep(float(seconds))
    with open(path, "w") as file:
        file.write("done")
    return say("written")


def fail(text, context):
    raise RuntimeError(text)


def die(text, context):
    os._exit(1)


def tick(text, context):
    """Start to count in the background; count on while nobody asks."""

    def count():
        global ticks
        while True:
            ticks += 1
            time.sleep(0.005)

    threading.Thread(target=count, daemon=True).start()
    return say("ticking")


COMMANDS = {
    "echo": say,
    "fill": lambda size, context: say("x" * int(size)),
    "sleep": sleep,
    "write": write_later,
    "fail": fail,
    "die": die,
    "tick": tick,
    "ticks": lambda _, context: say(str(ticks)),
    "pid": lambda _, context: say(str(os.getpid())),
    "answered": lambda _, context: say(str(answered)),
    "left": lambda _, context: say(str(context.get_remaining_time_in_millis())),
    "nothing": lambda _, context: {"statusCode": 200},
    "teapot": lambda _, context: {"statusCode": 418, "body": "a teapot"},
    "malformed": lambda text, context: {"body": text},
    "unprintable": lambda _, context: {"statusCode": 200, "body": {1, 2}},
}
