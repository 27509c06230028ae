"""Signatures of AWS: what its own library, botocore, makes of the same requests."""

import json

import pytest

from loops.gateway.carriers.sigv4 import signed
from loops.runtimes.cloud_keys import access_key

NOW = 1_796_040_000.0  # 2026-11-30 12:00 UTC
BODY = '{"a": "\u00e9"}'.encode()
MODEL = "https://bedrock-runtime.us-east-1.amazonaws.com/model/us.anthropic.claude-sonnet-4-5-20250929-v1%3A0"
PROFILE = (
    "https://bedrock-runtime.eu-west-1.amazonaws.com:8443/model/"
    "arn%3Aaws%3Abedrock%3Aeu-west-1%3A1%3Aapplication-inference-profile%2Fab"
)


STREAM = f"{MODEL}/invoke-with-response-stream"
WHOLE = f"{PROFILE}/invoke"
SESSION = "session-token/+="


@pytest.mark.parametrize(
    ("url", "region", "session", "signature"),
    [
        (STREAM, "us-east-1", "", "ff61fe8edca56b2a578bca44df5a147e8faa5f267d8c1d8662d903c3d5b55ea7"),
        (WHOLE, "eu-west-1", "", "3d4270ad8ef62dff9ad46ce99f2c9d7a325c044a538384fb2256a2ed6737a869"),
        (STREAM, "us-east-1", SESSION, "19fb830525a07ef51d5905f416e1518ba7f3721234509615f9461dd3aeb494c6"),
        (WHOLE, "eu-west-1", SESSION, "1dd4d27c72bfa799981bb8d1badd7bafc47b7fc2837df6db255f059f0d712f23"),
    ],
)
def test_a_request_is_signed_as_awss_own_library_signs_it(url: str, region: str, session: str, signature: str) -> None:
    told = {"AccessKeyId": "AKIDEXAMPLE", "SecretAccessKey": "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"}
    key = access_key(json.dumps({"Version": 1, **told, "SessionToken": session or None}))
    headers = {"content-type": "application/json", "accept-encoding": "identity"}
    proof = signed(key, region, "bedrock", url, headers, BODY, NOW)
    assert proof["authorization"].endswith(f"Signature={signature}"), proof["authorization"]
    assert proof.get("x-amz-security-token", "") == session
    assert "wJalr" not in repr(key)
