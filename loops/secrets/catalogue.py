"""The kinds of secrets that are known, once: the redactor hides them, the publish guard refuses them, tests walk them.

The prefixes are those that the providers document, most of them for secret scanners.
"""

from loops.secrets.formats import BY_NAME, FORMATS
from loops.secrets.kind import UUID, Kind, kind, likely

_FORGES = (
    # the long form of installation tokens is `ghs_<app>_<JWT>` (GitHub's REST description, 2026)
    kind(
        "GitHub token",
        r"gh[oprsu]_[A-Za-z0-9._-]{20,}",
        "ghp_{w36}",
        "gho_{w36}",
        "ghu_{w36}",
        "ghr_{w76}",
        "ghs_{w36}",
        "ghs_123456_eyJ{w30}.eyJ{w180}.{w86}-{w60}",
    ),
    kind("GitHub token", r"github_pat_[A-Za-z0-9_]{20,}", "github_pat_{w22}_{w59}"),
    likely("GitHub token", r"v1\.[0-9a-f]{40}", "v1.{h40}"),
    kind(
        "GitLab token",
        r"gl(?:agent|cbt|dt|ffct|ft|imt|oas|pat|ptt|rt|rtr|soat|trt|wt)-[A-Za-z0-9_.-]{20,}|GR1348941[A-Za-z0-9_-]{20,}",
        "glpat-{w20}",
        "glpat-{w27}.01.{l9}",
        "gldt-{w20}",
        "glft-{w20}",
        "glsoat-{w20}",
        "glrt-{w20}",
        "glcbt-64_{w20}",
        "glimt-{w25}",
        "glptt-{h40}",
        "glagent-{w50}",
        "gloas-{h64}",
        "GR1348941{w20}",
    ),
    kind(
        "Atlassian token",
        r"AT(?:ATT|CTT|STT|BT)3[A-Za-z0-9_=+/-]{20,}|ATBB[A-Za-z0-9]{24,}|ATOA[A-Za-z0-9_-]{50,}",
        "ATATT3xFf{w180}={u8}",
        "ATCTT3xFf{w180}={u8}",
        "ATBB{w32}",
        word=True,
    ),
    kind("Azure DevOps token", r"[A-Za-z0-9]{60,80}AZDO[A-Za-z0-9]{4}", "{w76}AZDO{w4}", word=True),
    kind("Sourcegraph token", r"sgp_(?:[0-9a-f]{16}_|local_)?[0-9a-f]{40,}", "sgp_{h16}_{h40}", "sgp_{h40}"),
    kind("Buildkite token", r"bk(?:aj|ct|ua)_[0-9a-f]{40,}", "bkua_{h40}"),
    kind("CircleCI token", r"CCI(?:PAT|PRJ)_[A-Za-z0-9]{20,}_[0-9a-f]{40}", "CCIPAT_{w22}_{h40}"),
)

_MODELS = (
    kind(
        "Anthropic key",
        r"sk-ant-[A-Za-z0-9_-]{16,}",
        "sk-ant-api03-{w93}AA",
        "sk-ant-oat01-{w93}AA",
        "sk-ant-ort01-{w93}AA",
    ),
    kind(
        "OpenAI key",
        r"sk-(?:proj|svcacct|admin|service|None)-[A-Za-z0-9_-]{16,}|sk-[A-Za-z0-9]{20}T3BlbkFJ[A-Za-z0-9]{20,}|sess-[A-Za-z0-9]{40,}",
        "sk-proj-{w74}T3BlbkFJ{w74}",
        "sk-svcacct-{w74}T3BlbkFJ{w74}",
        "sk-admin-{w58}T3BlbkFJ{w58}",
        "sk-{w20}T3BlbkFJ{w20}",
        "sess-{w40}",
        word=True,
    ),
    # DeepSeek, OpenRouter, LiteLLM, Langfuse and others
    kind(
        "API key", r"sk-[A-Za-z0-9_-]{16,}", "sk-or-v1-{h64}", "sk-lf-{h8}-{h4}-{h4}-{h4}-{h12}", "sk-{h32}", word=True
    ),
    kind("Google key", r"AIza[A-Za-z0-9_-]{35,}", "AIza{w35}"),
    kind("Google OAuth secret", r"GOCSPX-[A-Za-z0-9_-]{24,}", "GOCSPX-{w28}"),
    kind("Google token", r"ya29\.[A-Za-z0-9._-]{20,}", "ya29.{w150}", word=True),
    likely("Google refresh token", r"1//0[A-Za-z0-9_-]{40,}", "1//0{w99}"),
    likely("Google key", r"AQ\.[A-Za-z0-9_-]{40,}", "AQ.Ab8{w48}"),
    kind("Firebase key", r"AAAA[A-Za-z0-9_-]{7}:[A-Za-z0-9_-]{130,}", "AAAA{w7}:{w140}", word=True),
    kind("Hugging Face token", r"hf_[A-Za-z0-9]{30,}|api_org_[A-Za-z0-9]{34,}", "hf_{w34}", "api_org_{w34}", word=True),
    kind("Groq key", r"gsk_[A-Za-z0-9]{32,}", "gsk_{w52}", word=True),
    kind("xAI key", r"xai-[A-Za-z0-9]{32,}", "xai-{w80}", word=True),
    kind("Replicate token", r"r8_[A-Za-z0-9]{32,}", "r8_{w37}", word=True),
    kind("Perplexity key", r"pplx-[A-Za-z0-9]{32,}", "pplx-{w48}"),
    kind("NVIDIA key", r"nvapi-[A-Za-z0-9_-]{40,}", "nvapi-{w64}"),
    kind("Cerebras key", r"csk-[A-Za-z0-9]{40,}", "csk-{l48}", word=True),
    kind("Tavily key", r"tvly-[A-Za-z0-9-]{24,}", "tvly-{w32}", word=True),
    kind("Pinecone key", r"pcsk_[A-Za-z0-9_]{40,}", "pcsk_{w6}_{w63}", word=True),
    kind("LangSmith key", r"lsv2_(?:pt|sk)_[0-9a-f]{32,}_[0-9a-f]{10}", "lsv2_pt_{h32}_{h10}"),
    kind("E2B key", r"e2b_[0-9a-f]{40,}", "e2b_{h40}", word=True),
    likely("Fireworks key", r"fw_[A-Za-z0-9]{22,}", "fw_{w24}"),
)

_CLOUDS = (
    kind(
        "AWS access key",
        r"(?:A3T[A-Z0-9]|ABIA|ACCA|AKIA|ASIA)[A-Z0-9]{16}",
        "AKIA{u16}",
        "ASIA{u16}",
        "ABIA{u16}",
        "ACCA{u16}",
        word=True,
    ),
    kind(
        "AWS Bedrock key", r"ABSK[A-Za-z0-9+/]{100,}={0,2}|bedrock-api-key-[A-Za-z0-9+/=]{60,}", "ABSK{b128}", word=True
    ),
    kind("Azure storage key", r"AccountKey=([A-Za-z0-9+/]{86,}={0,2})", "AccountKey={b86}=="),
    kind("Azure access key", r"SharedAccessKey=([A-Za-z0-9+/]{40,}={0,2})", "SharedAccessKey={b43}="),
    kind("Azure shared access signature", r"[?&;]sig=([A-Za-z0-9%+/=]{43,})", "?sv=2024-11-04&sig={w43}%3D"),
    kind("Azure client secret", r"[A-Za-z0-9_~.-]{3}[0-9]Q~[A-Za-z0-9_~.-]{31,}", "{w3}8Q~{w34}"),
    kind("Alibaba access key", r"LTAI[A-Za-z0-9]{12,30}", "LTAI{w20}", word=True),
    kind("Tencent access key", r"AKID[A-Za-z0-9]{32,}", "AKID{w32}", word=True),
    kind("Yandex key", r"AQVN[A-Za-z0-9_-]{35,}", "AQVN{w36}", word=True),
    kind("DigitalOcean token", r"do[opr]_v1_[0-9a-f]{64,}", "dop_v1_{h64}", "doo_v1_{h64}", "dor_v1_{h64}"),
    kind("Heroku key", r"HRKU-[A-Za-z0-9_-]{36,}", "HRKU-AA{w58}", "HRKU-{h8}-{h4}-{h4}-{h4}-{h12}", word=True),
    kind(
        "Cloudflare token",
        r"cf(?:k|ut|at)_[A-Za-z0-9_-]{40,}|v1\.0-[0-9a-f]{24}-[0-9a-f]{146,}",
        "cfut_{w48}",
        "cfat_{w48}",
        "cfk_{w48}",
        "v1.0-{h24}-{h146}",
        word=True,
    ),
    kind("Databricks token", r"d(?:api|kea|ose)[0-9a-f]{32,}(?:-[0-9])?", "dapi{h32}-2", "dapi{h32}", word=True),
    kind("Vault token", r"hv[brs]\.[A-Za-z0-9_-]{24,}", "hvs.{w90}", "hvb.{w150}", "hvr.{w90}", word=True),
    likely("Vault token", r"[bs]\.[A-Za-z0-9]{24}", "s.{w24}"),
    kind("Terraform token", r"[A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_=-]{60,}", "{w14}.atlasv1.{w67}"),
    kind("Supabase key", r"sb(?:p|_secret)_[A-Za-z0-9_-]{20,}", "sbp_{h40}", "sb_secret_{w22}_{w8}", word=True),
    kind("Neon key", r"napi_[a-z0-9]{60,}", "napi_{l64}", word=True),
    kind(
        "PlanetScale credential", r"pscale_(?:oauth|pw|tkn)_[A-Za-z0-9_=.-]{32,}", "pscale_tkn_{w43}", "pscale_pw_{w43}"
    ),
    kind("Netlify token", r"nf[bcopu]_[A-Za-z0-9]{36,}", "nfp_{w36}", word=True),
    kind("Vercel token", r"vc[aikpr]_[A-Za-z0-9]{40,}", "vcp_{w56}", word=True),
    kind("Render key", r"rnd_[A-Za-z0-9]{28,}", "rnd_{w32}", word=True),
    kind(
        "Fly token", r"fm[12][a-z]?_[A-Za-z0-9+/=_-]{80,}|fo1_[A-Za-z0-9_-]{40,}", "fm2_{b100}", "fo1_{w43}", word=True
    ),
    kind("Tailscale key", r"tskey-[a-z]{2,12}-[A-Za-z0-9]{8,}-[A-Za-z0-9]{16,}", "tskey-auth-{w12}CNTRL-{w32}"),
    kind("Pulumi token", r"pul-[0-9a-f]{40,}", "pul-{h40}", word=True),
    kind(
        "Doppler token",
        r"dp\.(?:audit|ct|pt|sa|scim|st)\.[A-Za-z0-9._-]{36,}",
        "dp.pt.{w43}",
        "dp.st.dev.{w43}",
        word=True,
    ),
    kind("1Password token", r"ops_eyJ[A-Za-z0-9_=-]{80,}", "ops_eyJ{w250}"),
    kind("age key", r"AGE-SECRET-KEY-1[0-9A-Z]{50,}", "AGE-SECRET-KEY-1{u58}"),
    kind("OpenShift token", r"sha256~[A-Za-z0-9_-]{40,}", "sha256~{w43}"),
)

_REGISTRIES = (
    kind("npm token", r"npm_[A-Za-z0-9]{36,}", "npm_{w36}", word=True),
    kind(
        "npm token",
        r"_(?:authToken|auth|password)\s{0,3}=\s{0,3}[\"']?([A-Za-z0-9+/=_-]{20,})",
        "//registry.npmjs.org/:_authToken={h8}-{h4}-{h4}-{h4}-{h12}",
    ),
    kind(
        "PyPI token", r"pypi-AgE[A-Za-z0-9_-]{32,}", "pypi-AgEIcHlwaS5vcmc{w120}", "pypi-AgENdGVzdC5weXBpLm9yZw{w120}"
    ),
    kind("RubyGems key", r"rubygems_[0-9a-f]{48,}", "rubygems_{h48}"),
    kind("NuGet key", r"oy2[a-z0-9]{43}", "oy2{l43}", word=True),
    kind("crates.io token", r"cio[A-Za-z0-9]{32}", "cio{w32}", word=True),
    kind("Clojars token", r"CLOJARS_[a-z0-9]{60}", "CLOJARS_{l60}"),
    kind("Docker Hub token", r"dckr_[op]at_[A-Za-z0-9_-]{20,}", "dckr_pat_{w27}", "dckr_oat_{w32}"),
    kind(
        "Artifactory token", r"AKCp[A-Za-z0-9]{60,}|cmVmdGtu[A-Za-z0-9]{50,}", "AKCp{w69}", "cmVmdGtu{w56}", word=True
    ),
    kind(
        "Docker login",
        r"\"auth\"\s{0,4}:\s{0,4}\"([A-Za-z0-9+/]{12,}={0,2})\"",
        '{"auths": {"r.example": {"auth": "{b40}"}}}',
    ),
)

_MESSAGES = (
    kind(
        "Slack token",
        r"(?i:xox[abcdeoprs][-.]|xwfp-)[A-Za-z0-9.-]{10,}|xapp-[0-9]-[A-Za-z0-9-]{20,}",
        "xoxb-{d12}-{d13}-{w24}",
        "xoxp-{d12}-{d12}-{d13}-{h32}",
        "xoxe.xoxp-1-{w160}",
        "xapp-1-A{u10}-{d13}-{h64}",
    ),
    kind(
        "Slack webhook",
        r"hooks\.slack(?:-gov)?\.com/(?:services|triggers|workflows)/([A-Za-z0-9/_+-]{20,})",
        "https://hooks.slack.com/services/T{u8}/B{u10}/{w24}",
    ),
    kind(
        "Teams webhook",
        r"webhook\.office\.com/webhookb2/([A-Za-z0-9@/-]{40,})",
        "https://acme.webhook.office.com/webhookb2/{h36}@{h36}/IncomingWebhook/{h32}/{h36}",
    ),
    kind(
        "Discord webhook",
        r"discord(?:app)?\.com/api(?:/v[0-9]{1,2})?/webhooks/([0-9]{17,20}/[A-Za-z0-9_-]{50,})",
        "https://discord.com/api/webhooks/{d18}/{w68}",
    ),
    likely(
        "Discord bot token",
        r"[MNO][A-Za-z0-9_-]{22,27}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,}",
        "M{w23}.{w6}.{w27}",
        "N{w25}.{w6}.{w38}",
    ),
    likely("Telegram bot token", r"[0-9]{8,10}:[A-Za-z0-9_-]{35}", "{d10}:AA{w33}"),
    kind("SendGrid key", r"SG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{32,}", "SG.{w22}.{w43}", word=True),
    likely("Mailchimp key", r"[0-9a-z]{32}-us[0-9]{1,2}", "{h32}-us12"),
    kind(
        "Mailgun key",
        r"key-[0-9a-f]{32}|[0-9a-f]{32}-[0-9a-f]{8}-[0-9a-f]{8}",
        "key-{h32}",
        "{h32}-{h8}-{h8}",
        word=True,
    ),
    kind(
        "Brevo key", r"x(?:keysib|smtpsib)-[0-9a-f]{64}-[A-Za-z0-9]{16,}", "xkeysib-{h64}-{w16}", "xsmtpsib-{h64}-{w16}"
    ),
    kind("Resend key", r"re_[A-Za-z0-9]{8,12}_[A-Za-z0-9]{20,}", "re_{w8}_{w24}", word=True),
    likely("Twilio key", r"SK[0-9a-f]{32}", "SK{h32}"),
    kind(
        "Zapier webhook",
        r"hooks\.zapier\.com/hooks/catch/([0-9]{4,12}/[A-Za-z0-9]{6,})",
        "https://hooks.zapier.com/hooks/catch/{d8}/{l7}/",
    ),
)

_SHOPS = (
    kind("Stripe live key", r"[rs]k_live_[A-Za-z0-9]{16,}", "sk_live_{w99}", "rk_live_{w24}"),
    likely("Stripe test key", r"[rs]k_test_[A-Za-z0-9]{16,}", "sk_test_{w99}", word=False),
    kind("webhook secret", r"whsec_[A-Za-z0-9+/=]{24,}", "whsec_{w32}"),
    kind(
        "Square secret",
        r"sq0(?:atp|csp|idp)-[A-Za-z0-9_-]{22,}|EAAA[A-Za-z0-9_-]{60}",
        "sq0csp-{w43}",
        "sq0atp-{w22}",
        "EAAA{w60}",
        word=True,
    ),
    kind(
        "Shopify token",
        r"shp(?:at|ca|lka|pa|rt|ss|tka|ua)_[0-9a-fA-F]{32,}",
        "shpat_{h32}",
        "shpca_{h32}",
        "shppa_{h32}",
        "shpss_{h32}",
    ),
    kind(
        "Braintree token",
        r"access_token\$(?:production|sandbox)\$[0-9a-z]{16}\$[0-9a-f]{32}",
        "access_token$production${l16}${h32}",
    ),
    kind("Razorpay key", r"rzp_live_[A-Za-z0-9]{14,}", "rzp_live_{w14}"),
    kind("Flutterwave key", r"FLWSECK(?:_TEST)?-[0-9a-f]{12,}", "FLWSECK-{h32}-X"),
    kind("EasyPost key", r"EZ[AT]K[A-Za-z0-9]{54,}", "EZAK{w54}", word=True),
    kind("Shippo token", r"shippo_live_[0-9a-f]{40,}", "shippo_live_{h40}"),
    kind("Facebook token", r"EAA[A-Za-z0-9]{80,}", "EAA{w180}", word=True),
    kind("Twitter bearer token", r"A{20,}[A-Za-z0-9%]{30,}", "AAAAAAAAAAAAAAAAAAAAA{w40}%3D{w40}", word=True),
)

_TOOLS = (
    kind("Linear key", r"lin_(?:api|oauth|wh)_[A-Za-z0-9]{32,}", "lin_api_{w40}", "lin_oauth_{h64}"),
    kind("Notion token", r"ntn_[A-Za-z0-9]{40,}|secret_[A-Za-z0-9]{43}", "ntn_{w46}", "secret_{w43}", word=True),
    kind("Datadog token", r"dd(?:app|pat|sat)_[A-Za-z0-9]{32,}", "ddapp_{w40}", word=True),
    kind("Grafana token", r"gl(?:c|sa)_[A-Za-z0-9+/=_-]{32,}", "glsa_{w32}_{h8}", "glc_{b100}"),
    kind(
        "New Relic key",
        r"NR(?:AK|AA|II|JS|RA|SP)-[A-Za-z0-9_-]{19,}|[0-9a-f]{36}NRAL|[0-9a-f]{6}FFFFNRAL",
        "NRAK-{u27}",
        "{h36}NRAL",
        word=True,
    ),
    kind("Sentry token", r"sntry[su]_[A-Za-z0-9+/=_-]{40,}", "sntryu_{h64}", "sntrys_eyJ{w180}={w43}"),
    kind("Honeycomb key", r"hc[abim]{1}[a-z][a-z]?_[a-z0-9]{50,}", "hcaik_{l58}", word=True),
    kind("Dynatrace token", r"dt0[a-z][0-9]{2}\.[A-Z0-9]{24}\.[A-Z0-9]{60,}", "dt0c01.{u24}.{u64}", word=True),
    kind("SonarQube token", r"sq[apu]_[0-9a-f]{40,}", "squ_{h40}", "sqp_{h40}", word=True),
    kind("Postman key", r"PMAK-[0-9a-f]{24}-[0-9a-f]{34,}", "PMAK-{h24}-{h34}"),
    kind("Figma token", r"fig[dour]{1,2}_[A-Za-z0-9_-]{36,}", "figd_{w40}", word=True),
    kind("Airtable token", r"pat[A-Za-z0-9]{14}\.[0-9a-f]{64,}", "pat{w14}.{h64}", word=True),
    kind("Asana token", r"[0-9]/[0-9]{10,20}(?:/[0-9]{10,20})?:[0-9a-f]{32,}", "2/{d16}/{d16}:{h32}"),
    kind("Dropbox token", r"sl\.[A-Za-z0-9_-]{120,}", "sl.{w135}", word=True),
    kind("HubSpot token", rf"pat-(?:ap|eu|na)[0-9]-{UUID}", "pat-na1-{h8}-{h4}-{h4}-{h4}-{h12}", word=True),
    kind("Mapbox token", r"sk\.eyJ[A-Za-z0-9_-]{20,}\.[A-Za-z0-9_-]{20,}", "sk.eyJ{w60}.{w22}", word=True),
    kind("LaunchDarkly key", rf"(?:api|sdk)-{UUID}", "sdk-{h8}-{h4}-{h4}-{h4}-{h12}", word=True),
    kind("Contentful token", r"CFPAT-[A-Za-z0-9_-]{40,}", "CFPAT-{w43}"),
    kind("PostHog key", r"phx_[A-Za-z0-9]{40,}", "phx_{w43}", word=True),
    kind("Adafruit key", r"aio_[A-Za-z0-9]{28}", "aio_{w28}", word=True),
    kind("Typeform token", r"tfp_[A-Za-z0-9_.=-]{40,}", "tfp_{w59}", word=True),
    kind("Prefect key", r"pn[bu]_[A-Za-z0-9]{36}", "pnu_{w36}", word=True),
    kind("ElevenLabs key", r"sk_[0-9a-f]{48}", "sk_{h48}", word=True),
    kind("Greenloop box token", r"glb_[A-Za-z0-9_-]{40,}", "glb_{w43}", word=True),
)

KINDS: tuple[Kind, ...] = (
    *_FORGES, *_MODELS, *_CLOUDS, *_REGISTRIES, *_MESSAGES, *_SHOPS, *_TOOLS, *FORMATS, *BY_NAME,
)  # fmt: skip
"""The more telling first: where two cover the same text, people are told the first."""
