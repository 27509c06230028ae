"""What the runner and the machine say: steps, exit codes, timeouts, cancellations, memory, disk, network, permissions."""

from loops.evidence.shapes.shape import Shape

# who may speak of the network: a program that fetches for the build, at the start of its own line
FETCHER = (
    r"(?:#\d+ [\d.]+ )?\s*(?:curl: |wget: |fatal: |error: RPC failed|npm (?:ERR!|error) |pip\S* |ERROR: |E: |W: |Err:\d+ |go: |docker: |"
    r"Error response from daemon: |failed to (?:fetch|pull|do request|solve)|##\[error\]|Error: |error: |> Could not |"
    r"\[ERROR\] |warning: spurious network error|WARNING: Retrying|Retrying |requests\.exceptions\.|urllib3\.|"
    r"gyp ERR! |CondaHTTPError|info There appears to be trouble|\S*reqwest|Failed to download|Unable to connect)"
)
NETWORK = (
    r"(?:[Cc]ould not resolve (?:host|proxy)|[Tt]emporary failure (?:in name resolution|resolving)|[Nn]ame or service not known|no such host|"
    r"[Cc]onnection (?:timed out|refused|reset|was reset|closed|aborted)|[Nn]etwork is unreachable|[Nn]o route to host|"
    r"(?:EAI_AGAIN|ECONNRESET|ECONNREFUSED|ETIMEDOUT|ENOTFOUND|ESOCKETTIMEDOUT|ERR_SOCKET_TIMEOUT)|"
    r"TLS handshake timeout|i/o timeout|unexpected EOF|early EOF|RPC failed|[Rr]ead timed out|[Oo]peration timed out|"
    r"net/http: (?:request canceled|TLS)|context deadline exceeded|SSL_ERROR|SSL connection|the remote end hung up|"
    r"\b(?:50[0234]|429)\b[ :]|[Tt]oo [Mm]any [Rr]equests|toomanyrequests|rate limit(?:ed)? exceeded|Bad Gateway|Service (?:Temporarily )?Unavailable|"
    r"Gateway Time-?out|Internal Server Error|status code:? 5\d\d|returned error: 5\d\d|error: 5\d\d|Failed to fetch|Max retries exceeded|Connection broken)"
)

# fmt: off
SHAPES = (
    # cancelled, out of time
    Shape("runner", "error", r"##\[error\]The operation was canceled\.", "cancelled", worth=86, before=4),
    Shape("runner", "error", r"##\[error\].*(?:has exceeded the maximum execution time|has timed out after|timed out after \d+).*", "timeout", worth=92, before=4),
    Shape("runner", "error", r"##\[error\]Canceling since a higher priority.*", "cancelled", worth=92),
    Shape("timeout", "error", r".*(?:Timeout|timed out) after \d+ ?(?:m?s|sec|min|hour|[smh]\b).*", "timeout", worth=70, before=2),
    Shape("timeout", "error", r"(?:panic: test timed out after|E +Failed: Timeout [(>]|\++ Timeout \++|timeout: sending signal).*", "timeout", worth=84, after=6),
    # the machine under the runner
    Shape("runner", "error", r"##\[error\](?:The (?:runner has received a shutdown signal|hosted runner(?:: .*)? lost communication|self-hosted runner(?:: .*)? lost communication|job was not acquired|job running on runner)|Runner .* did not|.*lost communication with the server).*", "infrastructure", worth=92),
    Shape("runner", "error", r"(?:##\[error\])?(?:System\.IO\.IOException: )?.*(?:No space left on device|ENOSPC|disk quota exceeded).*", "infrastructure", worth=86),
    Shape("runner", "error", r"##\[error\](?:Failed to (?:download|resolve|get|initialize|restore)|Unable to (?:reach|download)|An error occurred (?:trying|while) |.*(?:Failed to CreateArtifact|Error downloading|Internal server error|status code '?5\d\d|ECONNRESET|ETIMEDOUT|socket hang up)).*", "infrastructure", worth=84),
    Shape("network", "error", FETCHER + r".*?" + NETWORK + r".*", "infrastructure", worth=84),
    # memory
    Shape("memory", "error", r".*(?:JavaScript heap out of memory|Reached heap limit|java\.lang\.OutOfMemoryError|OutOfMemoryException|fatal error: runtime: out of memory|Out of memory: Killed process|oom-kill|OOMKilled|std::bad_alloc|virtual memory exhausted|Cannot allocate memory|Killed signal terminated program|signal: killed|signal: 9, SIGKILL|memory allocation of \d+ bytes failed|Gradle build daemon disappeared|LLVM ERROR: out of memory|MemoryError$).*", "memory", worth=88, before=2, after=1),
    Shape("memory", "error", r"(?:.*: line \d+: +\d+ )?Killed\b.*", "memory", worth=76, before=4),
    # permissions and secrets
    Shape("permission", "error", r"(?:##\[error\])?.*(?:Resource not accessible by (?:integration|personal access token)|Input required and not supplied: |Bad credentials|Credentials could not be loaded|Could not load credentials from any|Unable to get ACTIONS_ID_TOKEN_REQUEST_URL|Not authorized to perform sts|Must have admin rights|refusing to allow a(?:n?) .* without `?workflows?`?|Context access might be invalid|GITHUB_TOKEN.* (?:permission|not set)).*", "permission", worth=88),
    Shape("permission", "error", r"(?:remote: |fatal: |error: |ERROR: |denied: |unauthorized: |git@\S+: |Error: )?.*(?:Permission to \S+ denied|could not read (?:Username|Password) for|Authentication failed for|Permission denied \(publickey|Invalid username or (?:password|token)|permission_denied|authentication required|requested access to the resource is denied|[Rr]epository not found|Write access to repository not granted|dubious ownership|no basic auth credentials|insufficient_scope|403 Forbidden|401 Unauthorized|status code 40[13]|EACCES: permission denied).*", "permission", worth=84, after=3, needs="fatal: "),
    Shape("permission", "error", r"(?:fatal: |remote: |denied: |unauthorized: |error: |ERROR: |npm error |##\[error\]|Error: ).*(?:Permission to \S+ denied|could not read (?:Username|Password)|Authentication failed|Permission denied|permission_denied|authentication required|access to the resource is denied|dubious ownership|no basic auth|insufficient_scope|403 Forbidden|401 Unauthorized|EACCES).*", "permission", worth=84, after=3),
    Shape("permission", "error", r"(?:\S*/)?(?:bash|sh|dash|zsh|\S+\.sh)(?:: line \d+| ?: \d+)?: (?P<message>.*[Pp]ermission denied)$", "permission", worth=86),
    # configuration of the job itself
    Shape("shell", "error", r"(?:\S*/)?(?:bash|sh|dash|zsh|\S+\.sh|env|make|xargs|sudo|pwsh)(?:\[?\d*\]?)(?:: line \d+|: \d+)?: .*(?:command not found|: not found|[Nn]o such file or directory|syntax error|unbound variable|bad substitution|unexpected (?:EOF|end of file|token)|cannot execute).*", "configuration", worth=86, before=2),
    Shape("shell", "error", r".*(?:is not recognized as (?:an internal|the name)|CommandNotFoundException).*", "configuration", worth=84),
    Shape("workflow", "error", r"(?:##\[error\])?.*(?:Unable to resolve action|Can't find 'action\.yml'|Invalid workflow file|An expression was expected|Unrecognized named-value|Unable to process (?:file command|template)|Required input|Unexpected input|Version \S+ with arch|No file in .* matched|Path does not exist|Unable to find (?:Node|Python|Java|Go) version|not found in (?:the )?(?:local|manifest)|Some specified paths were not resolved|Dependencies lock file is not found|Couldn't find any files).*", "configuration", worth=82),
    Shape("cli", "error", r"(?:error: )?(?:unrecognized arguments?|unknown (?:flag|option|command|shorthand flag|argument)|[Uu]nrecognized option|No such option|Found argument|unexpected argument|invalid option|Unknown option)\b.*", "configuration", worth=78, after=2),
    Shape("git", "error", r"(?:fatal: |error: pathspec |CONFLICT \(|error: failed to push some refs|error: Your local changes|! \[(?:remote )?rejected\]).*", worth=82, after=2),
    # the runner's own summing up
    Shape("runner", "summary", r"##\[error\](?:Process completed with exit code|.*exit code:? -?\d+).*", worth=92),
    Shape("runner", "error", r"##\[error\].*", worth=86, after=2),
    Shape("runner", "error", r"::error\b.*?::.*", worth=80),
    Shape("runner", "hint", r"##\[warning\].*", worth=16),
    Shape("runner", "noise", r"##\[(?:debug|endgroup|section)\].*|\[command\].*|##\[command\].*"),
)
