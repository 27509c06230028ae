"""A right, a secret or a credential is missing, in the words of the tool that was refused."""

from loops.evidence.recognise.shapes.shape import Shape

# fmt: off
SHAPES = tuple(
    Shape("permission", "error", pattern, "permission", worth=worth, after=3)
    for worth, pattern in (
        # GitHub and its actions
        (88, r"(?:RequestError \[HttpError\]: |HttpError: |Error: |GraphQL: |.*failed with: ?)?(?:Resource not accessible by (?:integration|personal access token)|Bad credentials|Must have admin rights).*"),
        (88, r"(?:Input required and not supplied: |Username and password required|The ssh-private-key argument is empty|Parameter token or opts\.auth is required|Trusted publishing exchange failure|Secret \S+ is required, but not provided).*"),
        (88, r".*(?:Credentials could not be loaded|Could not load credentials from any|Not authorized to perform sts:|ACTIONS_ID_TOKEN_REQUEST_(?:URL|TOKEN)|exactly one of \"workload_identity_provider\" or \"credentials_json\"|refusing to allow an? .* without `?workflows?`?|GITHUB_TOKEN.* (?:permission|not set)).*"),
        (86, r"(?:gh: To use GitHub CLI in a GitHub Actions workflow|gh: (?:Resource not|Must have|Bad cred)).*"),
        (84, r"(?:[Tt]he )?\w*(?:TOKEN|SECRET|API_KEY|ACCESS_KEY|PASSWORD|CREDENTIALS)\w* (?:environment variable |secret |input )?(?:is |was |must be )?(?:missing|empty|required|not set|not provided|unset)\b.*"),
        (84, r"##\[error\].*(?:denied: |unauthorized: |[Tt]oken required|[Aa]uthentication (?:failed|required)|Permission denied|permission_denied|insufficient_scope|403 Forbidden|401 Unauthorized|status code 40[13]|EACCES|Not all values are present|[Nn]ot authorized|token.* (?:is (?:missing|empty|required|not set)|not provided)).*"),
        (88, r".*GitHub Actions is not permitted to create or approve pull requests.*"),
        (88, r".*› ✘ +E(?:NO(?:GH|NPM)TOKEN|INVALID(?:GH|NPM)TOKEN|GHNOPERMISSION|GITNOPERMISSION|NOGHTOKEN)\b.*"),
        # git and ssh
        (88, r"(?:remote: )?(?:ERROR: )?Permission to \S+ denied.*"),
        (86, r".*\bfatal: (?:unable to access .*returned error: 40[13]|could not read (?:Username|Password) for|Authentication failed for|detected dubious ownership).*"),
        (86, r"(?:remote: )?(?:ERROR: )?(?:Repository not found|Invalid username or (?:password|token)|Write access to repository not granted|Support for password authentication was removed).*"),
        (86, r"(?:\S+@\S+: )?Permission denied \((?:publickey|password|keyboard).*"),
        (84, r"Load key \"[^\"]+\": .*|gpg: signing failed: (?:No secret key|Inappropriate ioctl).*|(?:error: )?gpg failed to sign the data.*"),
        (84, r"Host key verification failed\."),
        (86, r"(?:remote: )?error: GH0(?:06|13): .*"),
        # registries
        (88, r"(?:npm (?:ERR!|error) |🦋 +error )(?:404 |an error occurred while publishing .*)?.*404 Not Found - PUT .*"),
        (86, r"🦋 +error .*\b(?:E401|E403|ENEEDAUTH|EOTP)\b.*"),
        (88, r"npm (?:ERR!|error) code (?:E401|E403|ENEEDAUTH|EOTP)\b.*"),
        (86, r"(?:ERROR: |error: |#\d+ ERROR: )?(?:failed to (?:push|solve|fetch|authorize|pull)|Error response from daemon: |denied: |unauthorized: ).*?(?:denied|unauthorized|authentication required|no basic auth|insufficient_scope|40[13] (?:Forbidden|Unauthorized)).*"),
        (86, r"(?:denied|unauthorized): .*"),
        (86, r"Error: Cannot perform an interactive login from a non TTY device.*"),
        (90, r"\[ERROR\] .*(?:status(?: code)?: 40[13]|40[13] (?:Unauthorized|Forbidden)).*"),
        (86, r"error: Response status code does not indicate success: 40[13] .*"),
        (86, r"(?:ERROR +)?HTTPError: 40[13] .*"),
        (86, r"error: no token found, please run `cargo login`.*"),
        (84, r"(?:npm (?:ERR!|error) |ERROR: |error: |Error: )(?:.*[ :(])?(?:40[13] (?:Forbidden|Unauthorized|Client Error)|EACCES).*"),
        # clouds and services
        (84, r"(?:upload failed: .*|download failed: .*|fatal error: )?An error occurred \((?:AccessDenied|UnauthorizedOperation|ExpiredToken|InvalidClientTokenId|UnrecognizedClientException|AuthFailure|AccessDeniedException|SignatureDoesNotMatch)\w*\) when calling .*"),
        (86, r"(?:Error: )?(?:No existing credentials found|Failed to authenticate, have you run|No Auth token|[│| ]*(?:Error: )?No valid credential sources).*"),
        (86, r"[│| ]*Error: (?:No valid credential sources|error configuring .*(?:credential|NoCredentialProviders)).*"),
        (86, r"ERROR: \(gcloud\.[\w.-]+\) (?:PERMISSION_DENIED|UNAUTHENTICATED|You do not currently have an active account).*"),
        (86, r"Unable to locate credentials\b.*"),
        (86, r"Error from server \(Forbidden\): .*|error: You must be logged in to the server.*"),
        (84, r"(?:error - .*|.*Upload failed: .*)Token required.*"),
        (84, r"ERROR: Not authorized\b.*"),
        # the shell
        (86, r"(?:\S*/)?(?:bash|sh|dash|zsh|\S+\.sh)(?:: line \d+| ?: \d+)?: (?P<message>.*[Pp]ermission denied)$"),
        (82, r"(?:\S*/)?(?:bash|sh|dash|zsh|\S+\.sh)(?:: line \d+| ?: \d+)?: (?P<message>\w*(?:TOKEN|SECRET|KEY|PASSWORD|CREDENTIALS)\w*: (?:parameter null or not set|unbound variable).*)"),
    )
)
