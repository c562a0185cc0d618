"""Does on demand what tests need to see: shows its arguments, gives much, fails, waits."""

import json
import os
import sys
import time

action, words = sys.argv[1], sys.argv[2:]
given = {}
for word, value in zip(words, words[1:] + [""]):
    if word.startswith("--"):
        given[word[2:]] = value


def fail(code, message):
    print(json.dumps({"error": code, "message": message}))
    sys.exit(1)


if action == "show-arguments":
    answer = {"arguments": words}
elif action == "list-items":
    count = int(given.get("count", 2))
    text = "x" * int(given.get("fill", 1))
    answer = {"items": [{"id": f"i{n}", "text": text} for n in range(count)], "total": count}
elif action == "get-item":
    if given["item-id"] == "i1":
        fail("no_such_item", "`item-id` names nothing; try `max-items` or --secret-mode, or leave --item-id out")
    for n in range(3):
        print(json.dumps({"progress": n, "total": 3}), file=sys.stderr, flush=True)
    answer = {"text": f"the text of {given['item-id']}"}
elif action == "update-item":
    # An odd item breaks what the manifest promises.
    answer = {"version": 5 if given["item-id"] == "odd" else f"{given['item-id']}-v2"}
elif action in ("get-odd", "update-odd"):
    answer = json.loads(given["what"])
elif action == "wait-long":
    with open(given["mark"] + ".new", "w") as file:
        file.write("here")
    os.rename(given["mark"] + ".new", given["mark"])
    time.sleep(60)
    answer = {}
print(json.dumps(answer))
