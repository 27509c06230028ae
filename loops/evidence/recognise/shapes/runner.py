"""What the runner and the machine say: steps, exit codes, timeouts, cancellations, memory, disk; the job's configuration."""

from loops.evidence.recognise.shapes.shape import Shape

MARK = r"##\[error\]"

# fmt: off
SHAPES = (
    # the machine under the runner. What it says of itself has the tool `runner`: no test can have printed that
    Shape("runner", "error", MARK + r"(?:The (?:runner has received a shutdown signal|hosted runner(?:: .*)? lost communication|self-hosted runner(?:: .*)? lost communication|job was not acquired)|Runner .* did not|.*lost communication with the server|GitHub Actions has encountered an internal error|No (?:hosted parallelism|runner matching)).*", "infrastructure", worth=94),
    Shape("runner", "error", MARK + r"System\.IO\.IOException: No space left on device.*", "infrastructure", worth=92),
    Shape("runner", "error", MARK + r"(?:Failed to (?:download (?:archive|action)|resolve action download info|initialize container)|Unable to (?:reach|download)|An error occurred trying|The operation was canceled\. The (?:agent|runner)).*", "infrastructure", worth=88),
    # what a test prints as an annotation looks the same
    Shape("action", "error", MARK + r"(?:Unexpected HTTP response: (?:5\d\d|429)|(?:Error: )?(?:fetch failed|Connect Timeout Error|(?:connect|read|write) E(?:CONNRESET|TIMEDOUT|PIPE)\b|getaddrinfo E\w+|Client network socket)|(?:HttpError: )?(?:API|Secondary) rate limit (?:exceeded|hit)|You have exceeded a secondary rate limit).*", "infrastructure", worth=88),
    Shape("action", "error", MARK + r".*(?:Failed to CreateArtifact|Failed request: \(5\d\d\)|Error downloading|Internal server error|status code '?5\d\d|ECONNRESET|ETIMEDOUT|EAI_AGAIN|ENOTFOUND|socket hang up).*", "infrastructure", worth=86),
    Shape("machine", "error", r"\S+: .*(?:No space left on device|[Dd]isk quota exceeded).*|.*\bENOSPC: no space left on device.*", "infrastructure", worth=84),
    Shape("git-lfs", "error", r".*repository (?:exceeded its LFS budget|is over its data quota).*", "infrastructure", worth=86),
    # cancelled, out of time
    Shape("runner", "error", MARK + r".*(?:has exceeded the maximum execution time|has timed out after \d+ min).*", "timeout", worth=92, before=4),
    Shape("runner", "error", MARK + r"(?:Canceling since a higher priority|The (?:run|workflow|job|strategy configuration) was canceled).*", "cancelled", worth=90),
    Shape("runner", "error", r"##\[error\]The operation was canceled\.", "cancelled", worth=86, before=4),
    Shape("runner", "error", r".* ended as timed_out$", "timeout", worth=90),
    Shape("runner", "error", r".* ended as cancelled$", "cancelled", worth=90),
    Shape("runner", "error", r".* ended as startup_failure before any job began\.$", "configuration", worth=90),
    Shape("timeout", "error", r".*(?:Timeout|timed out) after \d+ ?(?:m?s|sec|min|hour|[smh]\b).*", "timeout", worth=70, before=2),
    Shape("timeout", "error", r"(?:Error: )?(?:Timed out waiting (?:for|\d+)|(?:UPGRADE|INSTALLATION) FAILED: (?:context deadline exceeded|timed out waiting)).*", "timeout", worth=86, before=2),
    Shape("timeout", "error", r"(?:panic: test timed out after|E +Failed: Timeout [(>]|\++ Timeout \++|timeout: sending signal|error: timed out waiting for the condition).*", "timeout", worth=84, after=6),
    # memory
    Shape("memory", "error", r".*(?:JavaScript heap out of memory|Reached heap limit|Java heap space|JVM heap space is exhausted|GC overhead limit exceeded|java\.lang\.OutOfMemoryError|OutOfMemoryException|fatal error: runtime: out of memory|Out of memory: Killed process|oom-kill|OOMKilled|std::bad_alloc|virtual memory exhausted|Cannot allocate memory|Killed signal terminated program|signal: killed|signal: 9, SIGKILL|memory allocation of \d+ bytes failed|Gradle build daemon disappeared|LLVM ERROR: out of memory|MemoryError$).*", "memory", worth=88, before=2, after=1),
    Shape("memory", "error", r".*(?:ld terminated with signal 9|There is insufficient memory for the Java|os::commit_memory\(.*\) failed|reaching memory limit|ERR_WORKER_OUT_OF_MEMORY|\bsignal SIGKILL\b|non-zero exit value 137|exit code:? 137\b).*", "memory", worth=88, before=2, after=1),
    Shape("memory", "error", r".*\bexited (?:with code 137|\(137\)).*", "memory", worth=84),
    Shape("memory", "error", r".*: line \d+: +\d+ Killed\b.*", "memory", worth=88, before=4),
    Shape("memory", "error", r"Killed$", "memory", worth=76, before=4),
    # configuration of the job itself
    Shape("shell", "error", r"(?:\S*/)?(?:bash|sh|dash|zsh|\S+\.sh|env|make|xargs|sudo|pwsh)(?:\[?\d*\]?)(?:: line \d+|: \d+)?: .*(?:command not found|: not found|[Nn]o such file or directory|syntax error|unbound variable|bad substitution|unexpected (?:EOF|end of file|token)|cannot execute).*", "configuration", worth=86, before=2),
    Shape("git", "error", r"fatal: not a git repository.*", "configuration", worth=84),
    Shape("docker", "error", r"docker: '.*' is not a docker command\.", "configuration", worth=84),
    Shape("python", "error", r"(?:\S*/)?python[\d.]*: (?:No module named|can't open file) .*", "configuration", worth=84),
    Shape("make", "error", r"g?make(?:\[\d+\])?: \*\*\* No rule to make target.*", "configuration", worth=84),
    Shape("npm", "error", r"npm (?:ERR!|error) (?:code ENOENT|enoent Could not read package\.json).*", "configuration", worth=84, after=3),
    Shape("pytest", "error", r"(?:pytest: error: |ERROR: (?:usage: pytest|file or directory not found: )).*", "configuration", worth=88, after=2),
    Shape("docker", "error", r"(?:ERROR: )?(?:unable to prepare context: |failed to solve: failed to read dockerfile: |failed to read dockerfile: ).*", "configuration", worth=88),
    Shape("docker", "error", r"(?:ERROR: )?(?:failed to solve: .*: not found$|Error response from daemon: (?:manifest for|pull access denied for)).*", "dependency", worth=88),
    Shape("nuget", "error", r".*error NU1(?:1\d\d|60[58]): .*", "dependency", worth=88),
    Shape("rollout", "error", r"error: (?:deployment|daemonset|statefulset) .* exceeded its progress deadline.*", "timeout", worth=84),
    Shape("shell", "error", r".*(?:is not recognized as (?:an internal|the name)|CommandNotFoundException).*", "configuration", worth=84),
    Shape("workflow", "error", r".*(?:automatically failed because it uses a deprecated version|Unable to resolve action|Can't find 'action\.yml'|Invalid workflow file|An expression was expected|Unrecognized named-value|Unable to process (?:file command|template)|The template is not valid|Invalid format '|The version '[^']*' with arch|Required input|Unexpected input|Version \S+ with arch|No file in .* matched|Path does not exist|Unable to find (?:Node|Python|Java|Go) version|not found in (?:the )?(?:local|manifest)|Some specified paths were not resolved|Dependencies lock file is not found|Couldn't find any files).*", "configuration", worth=82),
    Shape("cli", "error", r"(?:error: )?(?:unrecognized arguments?|unknown (?:flag|option|command|shorthand flag|argument)|[Uu]nrecognized option|No such option|Found argument|unexpected argument|invalid option|Unknown option)\b.*", "configuration", worth=78, after=2),
    Shape("git", "error", r"(?:fatal: (?!\[)|error: pathspec |CONFLICT \(|error: failed to push some refs|error: Your local changes|! \[(?:remote )?rejected\]).*", worth=82, after=2),
    # the runner's own summing up
    Shape("runner", "summary", r"##\[error\](?:Process completed with exit code|.*exit code:? -?\d+).*", worth=92),
    Shape("runner", "error", r"##\[error\].*", worth=86, after=2),
    Shape("runner", "error", r"::error\b.*?::.*", worth=80),
    Shape("runner", "hint", r"##\[warning\].*", worth=16),
    Shape("runner", "noise", r"##\[(?:debug|endgroup|section)\].*|\[command\].*|##\[command\].*"),
)
