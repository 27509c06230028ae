"""How the providers of models say that something failed, and servers and proxies that speak like them.

OpenAI, Anthropic, Google, Amazon Bedrock, Vertex AI, Azure, OpenRouter, Ollama, vLLM and LiteLLM: the codes and types
are those that they document, the sentences are those that they answer. The more exact stands first, and a CLI's own
table goes before.
"""

from typing import Final

from loops.runtimes.failures import FailureKind, Sign

_SLOW: Final = r"rate.?limit|throttl|too many (?:requests|concurrent)|parallel request|slow down"

PROVIDERS: Final = (
    # what our model gateway says where it gets no answer
    Sign(FailureKind.NETWORK, text="cannot reach the model's endpoint|the model's endpoint sends elsewhere"),
    # of a day or a plan, whatever is said of a minute beside it
    Sign(
        FailureKind.QUOTA,
        text=r"\bper[ _-]?(?:day|month)\b|PerDay|(?:daily|weekly|monthly|hour|session|spend\w*|usage) limit",
    ),
    # Bedrock and Google call what is over in a minute by the name of what is not
    Sign(FailureKind.RATE_LIMIT, text=r"too many tokens, please wait|requests?_per_(?:minute|base_model)|per ?minute"),
    Sign(FailureKind.RATE_LIMIT, code="resource_exhausted", text=r"retry (?:in|after) \d|try again later|PerMinute"),
    Sign(
        FailureKind.CONTEXT,
        code="context_?(?:length|window)|contextoverflow|prompt_?too_?long|request_too_large|above_max_length",
    ),
    Sign(FailureKind.CONTEXT, status=(413,)),
    Sign(
        FailureKind.CONTEXT,
        text=r"context.{0,3}(?:length|window|limit|size|overflow)|(?:prompt|input|request|string) (?:is )?too (?:long|"
        r"large)|"
        r"input token count.{0,60}exceeds|too many (?:input )?tokens|maximum (?:input|prompt) length|"
        r"exceeds? (?:the )?(?:model's )?max\w* (?:\w+ )?(?:tokens|length|input)",
    ),
    Sign(FailureKind.QUOTA, status=(402,)),
    Sign(
        FailureKind.QUOTA,
        code="insufficient_(?:quota|balance)|current_quota|billing|usage_limit|usage_not_included|credits?_|"
        "budget_exceeded|arrearage|servicequotaexceeded",
    ),
    Sign(FailureKind.QUOTA, text=r"exceeded your (?:current|monthly|assigned) \w+|key limit exceeded"),
    Sign(FailureKind.POLICY, code="content_policy|content_?filter|policy_violation|invalid_prompt|prohibited_content"),
    Sign(
        FailureKind.POLICY,
        text=r"content (?:policy|filter|management|moderation)|usage polic(?:y|ies)|safety (?:system|settings|reasons)|"
        r"flagged (?:as|for|by)|blocked (?:by|due to) (?:\w+ ){0,3}(?:safety|content|moderation)|"
        r"violat\w+ (?:\w+ ){0,3}(?:policy|policies|guidelines|terms)|"
        r"guardrail|prohibited.content",
    ),
    Sign(FailureKind.RATE_LIMIT, code=rf"{_SLOW}|too_?many_?requests"),
    Sign(FailureKind.RATE_LIMIT, status=(429,), text=rf"{_SLOW}|try again|retry"),
    Sign(
        FailureKind.MODEL,
        code="model_?not_?found|unknown_model|unsupported_model|deployment_?not_?found|model_not_supported",
    ),
    Sign(FailureKind.MODEL, code="not_found|resourcenotfound", text=r"\bmodels?\b"),
    Sign(
        FailureKind.MODEL,
        text=r"(?:model(?!'s )|deployment)\W[^\n]{0,200}?(?:not exist|not found|n[o']t (?:be )?(?:found|supported)|"
        r"not (?:currently )?available|no longer|deprecated|more system memory)|"
        r"model (?:id|identifier|name)\b[^\n]{0,80}"
        r" invalid|"
        r"(?:unknown|invalid|unsupported|no such|not a valid) model|models/\S+ is not found|no endpoints found|"
        r"no (?:allowed|available) providers|does not support (?:tool|function|image|chat)",
    ),
    Sign(
        FailureKind.ACCESS,
        code="model_access_denied|unsupported_country",
    ),
    Sign(
        FailureKind.ACCESS,
        text=r"(?:not|n't) (?:allowed to|have|authorized to) (?:access|perform|use|permission)|"
        r"(?:country|region|location)[^.\n]{0,40} not supported",
    ),
    # of a cloud, which says 403 to a bad key as well
    Sign(
        FailureKind.CREDENTIALS,
        code="expiredtoken|unrecognizedclient|invalidsignature|invalidclienttoken|missingauthentication|api_key_invalid|"
        "invalid_grant|invalid_client|access_token_expired",
    ),
    Sign(
        FailureKind.CREDENTIALS,
        text=r"security token|signature (?:we calculated|does not match|has expired|expired)|"
        r"api key (?:was reported|has been (?:disabled|revoked|suspended)|format)|api_key\S* has been suspended|"
        r"(?:organization|account|workspace) (?:has been|is) (?:disabled|suspended|deactivated)",
    ),
    Sign(FailureKind.CREDENTIALS, status=(401,)),
    Sign(
        FailureKind.CREDENTIALS,
        code="authentication|invalid_api_key|unauthenticated|unauthorized|token_expired|ProviderAuth",
    ),
    Sign(
        FailureKind.CREDENTIALS,
        text=r"(?:invalid|incorrect|missing|wrong|no|fix external) (?:x-)?(?:api|subscription|authori[sz]ation|auth|"
        r"access)"
        r"[ -]?(?:key|token|header|credentials)|api key (?:is )?(?:not valid|invalid|missing|expired|required)|"
        r"could ?n[o']t (?:\w+ )?authenticat|authentication (?:failed|error|required)|\bunauthori[sz]ed\b|"
        r"not (?:logged|signed) in|(?:log|sign|signing) in again|/login\b|(?:refresh|access|bearer) token|"
        r"token (?:has |is )?(?:expired|revoked|invalid)|missing environment variable|invalid.{0,12}credentials",
    ),
    Sign(FailureKind.ACCESS, status=(403,)),
    Sign(FailureKind.ACCESS, code="permission_(?:error|denied)|access_?denied|forbidden"),
    Sign(FailureKind.ACCESS, text=r"permission denied (?:for|on)|permission '[^']{1,100}' denied|access denied"),
    Sign(FailureKind.RATE_LIMIT, text=_SLOW),
    Sign(
        FailureKind.QUOTA,
        text=r"quota|hit your limit|credit balance|out of (?:extra )?(?:credits|usage)|more credits|"
        r"insufficient (?:funds|credit|balance)|"
        r"budget (?:is |has been |was )?(?:used up|exceeded|exhausted|spent)|exceeded (?:\w+ )?budget|billing",
    ),
    Sign(FailureKind.RATE_LIMIT, status=(429,)),
    Sign(FailureKind.RATE_LIMIT, code="resource_exhausted"),
    Sign(FailureKind.OVERLOADED, status=(500, 502, 503, 504, 520, 521, 522, 523, 524, 529)),
    Sign(FailureKind.OVERLOADED, code="overloaded|server_?error|unavailable|internal|modelnotready|modeltimeout"),
    Sign(
        FailureKind.OVERLOADED,
        text=r"overloaded|at capacity|high demand|temporarily (?:unavail|at)|server (?:busy|had an error|is busy)|"
        r"internal server error|bad gateway|service unavailable|internal error (?:has )?(?:occurred|encountered)",
    ),
    Sign(
        FailureKind.NETWORK,
        text=r"connect(?:ion|ing)? .{0,40}(?:refused|reset|failed|closed|error)|connection error|"
        r"\bE(?:CONN\w+|NOTFOUND|AI_AGAIN|TIMEDOUT|HOSTUNREACH|NETUNREACH|PIPE|PROTO)\b|"
        r"(?:unable|cannot|failed|could not) (?:to )?connect|fetch failed|getaddrinfo|name resolution|lookup address|"
        r"name or service not known|no route to host|network (?:is unreachable|error)|dns error|broken pipe|"
        r"socket hang up|socket (?:was )?closed|error sending request|stream (?:disconnected|closed|ended)|timed out|"
        r"error: terminated|certificate|premature close|unexpected eof|incomplete (?:chunked )?read|"
        r"tunnel(?:l?ing)? .{0,40}(?:failed|established)|"
        r"proxy .{0,40}(?:failed|error|required|refused)|request timeout",
    ),
    Sign(FailureKind.TOOL, text=r"\bMCP\b|tool \S+ (?:failed|crashed|timed out)|failed to start (?:the )?tool"),
    # a shell's way to say that a signal ended it: INT, KILL (out of memory, too), TERM
    Sign(FailureKind.KILLED, exit=(130, 137, 143)),
)
