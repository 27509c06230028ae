"""What clouds give out in place of an API key, as their own tools write it. Pure."""

import json
import re
from dataclasses import dataclass, field

_REGION = re.compile(r"https?://(?:[^/]+\.)?bedrock-runtime(?:-fips)?\.([a-z0-9-]+)\.")
_PROJECT = re.compile(r"[A-Za-z0-9:._-]{1,100}")


@dataclass(frozen=True)
class AccessKey:
    """Credentials of AWS. A session token belongs to those that end."""

    id: str
    secret: str = field(repr=False)
    session: str = field(default="", repr=False)


def access_key(text: str) -> AccessKey:
    """The JSON that `aws configure export-credentials` prints. Raises ValueError without quoting it."""
    try:
        told = json.loads(text)
        return AccessKey(str(told["AccessKeyId"]), str(told["SecretAccessKey"]), str(told.get("SessionToken") or ""))
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        raise ValueError(
            "This is no access key of AWS: expected the JSON of `aws configure export-credentials`, with AccessKeyId "
            "and SecretAccessKey."
        ) from None


def region_of(base: str) -> str:
    """Raises ValueError for a base URL that names none."""
    if (found := _REGION.match(base)) is None:
        raise ValueError(f"{base!r} names no region: expected https://bedrock-runtime.REGION.amazonaws.com.")
    return found.group(1)


@dataclass(frozen=True)
class ServiceAccount:
    """What its JSON holds. Where its tokens are to be had stands there too, and is Google's own whatever it says."""

    email: str
    project: str
    key_id: str
    private_key: str = field(repr=False)


def service_account(text: str) -> ServiceAccount:
    """Raises ValueError without quoting it."""
    try:
        told = json.loads(text)
        found = ServiceAccount(
            str(told["client_email"]),
            str(told["project_id"]),
            str(told.get("private_key_id") or ""),
            str(told["private_key"]),
        )
        if _PROJECT.fullmatch(found.project) and "PRIVATE KEY" in found.private_key:
            return found
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        pass
    raise ValueError(
        "This is no key of a service account of Google's: expected its whole JSON, with client_email, project_id and "
        "private_key."
    )
