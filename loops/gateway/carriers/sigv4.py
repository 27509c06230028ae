"""AWS Signature Version 4, for requests without a query. Pure.

https://docs.aws.amazon.com/IAM/latest/UserGuide/create-signed-request.html
"""

import hashlib
import hmac
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Final
from urllib.parse import quote, urlsplit

from loops.runtimes.cloud_keys import AccessKey

_ALGORITHM: Final = "AWS4-HMAC-SHA256"


def signed(
    key: AccessKey, region: str, service: str, url: str, headers: Mapping[str, str], body: bytes, now: float
) -> dict[str, str]:
    """`headers` of a POST to `url` with those that prove whose it is; all that are given, and `host`, are signed."""
    parts, at = urlsplit(url), datetime.fromtimestamp(now, UTC)
    stamp, day = at.strftime("%Y%m%dT%H%M%SZ"), at.strftime("%Y%m%d")
    sent = {**headers, "x-amz-date": stamp, **({"x-amz-security-token": key.session} if key.session else {})}
    lower = {"host": parts.netloc} | {name.lower(): " ".join(value.split()) for name, value in sent.items()}
    names = ";".join(sorted(lower))
    # the path is encoded once as it is sent, and once more as it is signed
    request = ["POST", quote(parts.path or "/", safe="/-_.~"), ""]
    request += [*(f"{name}:{lower[name]}" for name in sorted(lower)), "", names, hashlib.sha256(body).hexdigest()]
    scope = f"{day}/{region}/{service}/aws4_request"
    digest = hashlib.sha256("\n".join(request).encode()).hexdigest()
    proof = f"AWS4{key.secret}".encode()
    for part in (day, region, service, "aws4_request"):
        proof = hmac.digest(proof, part.encode(), "sha256")
    signature = hmac.digest(proof, "\n".join((_ALGORITHM, stamp, scope, digest)).encode(), "sha256").hex()
    told = f"{_ALGORITHM} Credential={key.id}/{scope}, SignedHeaders={names}, Signature={signature}"
    return {**sent, "authorization": told}
