"""What `helm test` runs: a signed ping, as GitHub sends one, has to be accepted and an unsigned one refused."""

import hashlib
import hmac
import json
import os
import sys
import time
import urllib.error
import urllib.request
import uuid
from pathlib import Path

URL = os.environ["GREENLOOP_SERVICE_URL"] + "/webhooks/github"
LINES = Path(os.environ["GREENLOOP_WEBHOOK_SECRETS_FILE"]).read_text().splitlines()
SECRET = next(line.strip() for line in LINES if line.strip()).encode()
BODY = json.dumps({"zen": "Keep it logically awesome.", "hook_id": 1, "hook": {"type": "App"}}).encode()


def deliver(signature: str) -> int:
    headers = {
        "Content-Type": "application/json",
        "X-GitHub-Event": "ping",
        "X-GitHub-Delivery": str(uuid.uuid4()),
        "X-Hub-Signature-256": signature,
    }
    request = urllib.request.Request(URL, BODY, headers, method="POST")  # noqa: S310  the address is the chart's own
    try:
        with urllib.request.urlopen(request, timeout=10) as answer:  # noqa: S310
            return int(answer.status)
    except urllib.error.HTTPError as error:
        return error.code


def main() -> str:
    deadline = time.monotonic() + float(os.environ["TIMEOUT_SECONDS"])
    signed = "sha256=" + hmac.new(SECRET, BODY, hashlib.sha256).hexdigest()
    while True:
        try:
            accepted = deliver(signed)
            if accepted < 500:
                break
            trouble = f"it answers {accepted}"
        except OSError as error:
            trouble = str(error)
        if time.monotonic() > deadline:
            return f"{URL} did not take a signed ping: {trouble}"
        time.sleep(1)
    if not 200 <= accepted < 300:
        return f"{URL} answered {accepted} to a signed ping: does the Secret hold what the web pods have?"
    refused = deliver("sha256=" + "0" * 64)
    if refused != 401:
        return f"{URL} answered {refused} to a ping with a wrong signature, not 401"
    print(f"{URL} takes a signed ping ({accepted}) and refuses a forged one ({refused})")
    return ""


if __name__ == "__main__":
    sys.exit(main() or 0)
