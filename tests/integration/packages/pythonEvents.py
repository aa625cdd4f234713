"""A member of the room at argv[1], with the owner's token argv[2], for pythonClient.test.ts: tunes, sends and hears
messages, waits for a contact, and prints all as JSON."""

import json
import sys
import time

import pliant

url, token = sys.argv[1:]
with pliant.join(url, name="Python", token=token, contacts=True, timeout=600) as room:
    room.reset()
    contact = next(room.contacts(timeout=600))
    room.send("ready", {"bytes": b"\1\2", "list": [1, 0.5, None, True, "Zoë"]})
    heard = next(room.messages(timeout=600))
    body = room.bodies[0].name
    room.react("🎉")
    room.say("  from Python ")
    reaction = next(room.reactions(timeout=600))
    line = next(room.lines(timeout=600))
    room.tune(gravity=(0, -3, 0), time_scale=0.5)
    room.tune(body, friction=0.25)
    while room.tuning is None or room.tuning["bodies"][body]["friction"] != 0.25:
        room.wait(room.frame, timeout=600)
    with room.grab(body, triangle=0, u=0.25, v=0.25) as grab:
        grab.pin()
    while not room.pins:
        time.sleep(0.02)
    pin = dict(room.pins[0])
    room.unpin(None)
    while room.pins:
        time.sleep(0.02)
    refused = []
    for wrong in (lambda: room.tune(friction=1), lambda: room.tune(body, mass=1), lambda: room.send("two words"), lambda: room.react("x"), lambda: room.say(b"x")):
        try:
            wrong()
        except pliant.PliantError as error:
            refused.append(error.details["field"])
    room.send("done")
    json.dump(
        {
            "contact": [contact.tick > 0, [one.name for one in contact.bodies]],
            "heard": [heard.kind, heard.data],
            "tuning": [room.tuning["gravity"], room.tuning["timeScale"], room.tuning["member"] == room.member],
            "talk": [reaction.reaction, reaction.member == line.member == room.member, line.name, line.text],
            "pin": [pin["by"] == room.member, pin["body"] == body, pin["together"], len(pin["target"])],
            "refused": refused,
        },
        sys.stdout,
    )
