"""Resets a remote to another game and prints what it says: python docs/talk.py PASSWORD [ws://host:port]."""

import base64
import json
import sys
import time

from websockets.sync.client import connect

login = {"Authorization": "Basic " + base64.b64encode(f"{sys.argv[1]}:".encode()).decode()}
address = sys.argv[2] if len(sys.argv) > 2 else "ws://127.0.0.1:15900"
with connect(address, additional_headers=login) as remote:
    headers = {"message_id": 0, "sent_at": time.time(), "episode_id": "0"}
    body = {"env_id": "gym-core.BreakoutDeterministic-v3"}
    remote.send(json.dumps({"method": "v0.env.reset", "headers": headers, "body": body}))
    for message in map(json.loads, remote):
        print(message["method"], message["headers"].get("episode_id"), message["body"])
