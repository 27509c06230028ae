"""Secrets of no single provider: keys, logins in URLs and headers, values that only a name beside them gives away."""

from loops.secrets.kind import UUID, Kind, kind, likely, named

FORMATS: tuple[Kind, ...] = (
    kind(
        "private key",
        r"-----BEGIN (?:[A-Z0-9]{1,16} ){0,4}PRIVATE KEY(?: BLOCK)?-----|---- BEGIN SSH2 ENCRYPTED PRIVATE KEY ----"
        r"|-----BEGIN OpenVPN Static key V1-----|PuTTY-User-Key-File-[23]: ",
        "-----BEGIN RSA PRIVATE KEY-----\n{b64}\n{b64}\n-----END RSA PRIVATE KEY-----",
        "-----BEGIN PRIVATE KEY-----\n{b64}\n-----END PRIVATE KEY-----",
        "-----BEGIN ENCRYPTED PRIVATE KEY-----\n{b64}\n-----END ENCRYPTED PRIVATE KEY-----",
        "-----BEGIN EC PRIVATE KEY-----\n{b64}\n-----END EC PRIVATE KEY-----",
        "-----BEGIN DSA PRIVATE KEY-----\n{b64}\n-----END DSA PRIVATE KEY-----",
        "-----BEGIN OPENSSH PRIVATE KEY-----\n{b64}\n-----END OPENSSH PRIVATE KEY-----",
        "-----BEGIN PGP PRIVATE KEY BLOCK-----\n\n{b64}\n-----END PGP PRIVATE KEY BLOCK-----",
        "---- BEGIN SSH2 ENCRYPTED PRIVATE KEY ----\n{b64}\n---- END SSH2 ENCRYPTED PRIVATE KEY ----",
        "PuTTY-User-Key-File-3: ssh-ed25519\nEncryption: none\nPrivate-Lines: 1\n{b48}\nPrivate-MAC: {h64}",
        until=r"-----END [A-Za-z0-9 ]{0,80}-----|---- END SSH2 ENCRYPTED PRIVATE KEY ----|Private-MAC: [0-9a-f]{40,64}",
    ),
    likely(
        "JSON Web Token",
        r"eyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}",
        "eyJ{w33}.eyJ{w80}.{w43}",
        word=False,
    ),
    likely(
        "encrypted JSON Web Token",
        r"eyJ[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{0,700}\.[A-Za-z0-9_-]{12,}\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}",
        "eyJ{w40}.{w340}.{w16}.{w80}.{w22}",
        "eyJ{w40}..{w16}.{w80}.{w22}",
        word=False,
    ),
    likely(
        "password in a URL",
        r"[A-Za-z][A-Za-z0-9+.-]{1,20}://[^\s:/@{}<>$\"'`]{0,80}:([^\s:/@{}<>$\"'`]{6,120})@[A-Za-z0-9\[]",
        "postgresql://app:{w20}@db.acme.io:5432/app",
        "https://deploy:{w20}@git.acme.io/x.git",
        word=False,
    ),
    likely(
        "credential in a header",
        r"(?i)authorization[\"']?\s{0,3}[:=,]\s{0,3}[\"']?(?:basic|bearer|bot|token|apikey|key)\s{1,3}([A-Za-z0-9+/=_.~-]{16,})",
        "Authorization: Bearer {w40}",
        "authorization: Basic {b36}",
        "Authorization: token {h40}",
        word=False,
    ),
)

BY_NAME: tuple[Kind, ...] = (
    named(
        "AWS secret key",
        r"aws[a-z0-9_.-]{0,20}(?:access|key|pass|pw|secret|token)|secret_?access_?key",
        r"[A-Za-z0-9/+]{40,}={0,2}",
        'aws_secret_access_key = "{w40}"',
        "AWS_SESSION_TOKEN={w200}",
    ),
    named("Twilio token", r"twilio", r"[0-9a-f]{32}|[A-Za-z0-9]{32}", "TWILIO_AUTH_TOKEN={h32}"),
    named(
        "Datadog key",
        r"datadog|dd[_-]?(?:api|app)",
        r"[0-9a-f]{40}|[0-9a-f]{32}",
        "DD_API_KEY={h32}",
        'datadog_app_key: "{h40}"',
    ),
    named("Heroku key", r"heroku", UUID, "HEROKU_API_KEY={h8}-{h4}-{h4}-{h4}-{h12}"),
    named(
        "Cloudflare token",
        r"cloudflare|cf[_-]?(?:api|token)",
        r"[A-Za-z0-9_-]{37,45}",
        "CLOUDFLARE_API_TOKEN={w40}",
        "CF_API_KEY={h37}",
    ),
    named(
        "Postmark, Snyk or Codecov token",
        r"codecov|postmark|snyk|railway|travis",
        rf"{UUID}|[A-Za-z0-9_-]{{20,}}",
        "SNYK_TOKEN={h8}-{h4}-{h4}-{h4}-{h12}",
    ),
    named(
        "GitHub secret",
        r"(?:github|gh|git)[_-]?(?:client|token|pat|secret)",
        r"[0-9a-f]{40}",
        "GITHUB_CLIENT_SECRET={h40}",
    ),
    named(
        "IBM key",
        r"ibm|softlayer|cos_hmac|bluemix",
        r"[A-Za-z0-9_-]{44}|[0-9a-f]{48}|[0-9a-f]{64}",
        'ibm_cloud_api_key = "{w44}"',
    ),
    named(
        "service key",
        r"algolia|asana|bitbucket|circleci|cohere|confluent|discord|elastic|fastly|intercom|jenkins|jira|mistral|netlify|okta|pagerduty|plaid|sonar|telegram|trello|vercel|wandb|zendesk",
        r"[A-Za-z0-9+/=_~-]{20,}",
        "ALGOLIA_ADMIN_KEY={h32}",
        "WANDB_API_KEY={h40}",
        "MISTRAL_API_KEY={w32}",
    ),
    named(
        "password or key",
        r"(?:account|access|api|auth|client|database|db|encrypt(?:ion)?|master|priv(?:ate)?|service|shared|sign(?:ing)?)[_-]?key"
        r"|contrase[^\s:=]{1,2}a|credential|key_?pass|db_?pass|database_?pass|passphrase|passwd|password|pwd|secret"
        r"|(?:access|api|auth|bearer|bot|refresh|deploy)[_-]?token|_token",
        r"[A-Za-z0-9+/=_~.-]{16,200}",
        'password = "{w20}"',
        "API_KEY: {h32}",
        '"client_secret": "{w32}"',
    ),
)
