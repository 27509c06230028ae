"""The network, a registry or a mirror let a tool down that fetches for the build.

Only what such tools print counts, never that some program said "connection refused" or 503.
"""

from loops.evidence.recognise.shapes.shape import Shape

# an answer with a status that says "later": always with the words around it, since 503 may count anything
STATUS = (
    r"(?:(?:[Ss]tatus(?: [Cc]ode)?|[Rr]esponse(?: [Cc]ode)?|[Ee]rror|HTTP(?:/[\d.]+)?|ERROR|got|GET \S+)['\"]?(?: error)?[:=]? *\(?'?(?:50[0234]|52\d|429)\b|"
    r"\b(?:50[0234]|52\d) +(?:Internal Server Error|Bad Gateway|Service (?:Temporarily )?Unavailable|Gateway Time-?out|SERVICE UNAVAILABLE)|"
    r"\((?:50[0234]|52\d)\) [A-Z]|429 Too Many Requests|toomanyrequests|pull rate limit|Service Unavailable 503)"
)
BROKEN = (
    r"(?:[Cc]ould(?: not|n't) resolve (?:host|proxy)|[Tt]emporary failure (?:in name resolution|resolving)|[Nn]ame or service not known|no such host|"
    r"server misbehaving|dns error|[Ff]ailed to lookup address|"
    r"[Cc]onnection (?:timed out|refused|reset|was reset|closed|aborted)|[Cc]ould not connect to|[Ff]ailed to connect to|[Nn]etwork is unreachable|[Nn]o route to host|"
    r"(?:EAI_AGAIN|ECONNRESET|ECONNREFUSED|ETIMEDOUT|ENOTFOUND|ESOCKETTIMEDOUT|ERR_SOCKET_TIMEOUT|UND_ERR_\w*TIMEOUT)|socket hang up|"
    r"TLS handshake timeout|i/o timeout|unexpected EOF|early EOF|[Rr]ead timed out|[Oo]peration timed out|[Tt]imeout was reached|"
    r"net/http: (?:request canceled|TLS)|context deadline exceeded|Client\.Timeout exceeded|SSL_ERROR_SYSCALL|SSL connection timeout|[Gg]nu[Tt][Ll][Ss] recv|[Hh]TTP/2 stream|"
    r"the remote end hung up|Max retries exceeded|Connection broken|ReadTimeoutError|ConnectTimeoutError|NewConnectionError|IncompleteRead|ProtocolError)"
)
FAULT = rf"(?:{STATUS}|{BROKEN})"

# fmt: off
SHAPES = tuple(
    Shape("network", "error", pattern, "infrastructure", worth=worth, after=2)
    for worth, pattern in (
        # fetchers
        (84, r"curl: \((?:5|6|7|16|18|28|35|52|55|56|92)\) .*"),
        (84, r"(?:Invoke-(?:WebRequest|RestMethod)\b.*|\s*)The remote server returned an error: \((?:5\d\d|429)\).*"),
        (84, r"curl: \(22\) .*" + STATUS + r".*"),
        (84, r"(?:wget: |[\d: -]{19} ERROR 5\d\d: |HTTP request sent, awaiting response\.\.\. 5\d\d).*"),
        (84, r"(?:fatal: |error: )(?:unable to access|RPC failed|the remote end hung up|early EOF|.*Could not resolve host).*?(?:" + FAULT + r"|RPC failed|hung up|early EOF).*"),
        (84, r"(?:fetch-pack: unexpected disconnect|ssh: (?:connect to host|Could not resolve hostname)|kex_exchange_identification: ).*"),
        # javascript
        (86, r"npm (?:ERR!|error) code (?:ECONNRESET|ETIMEDOUT|ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ERR_SOCKET_TIMEOUT|E5\d\d|E429)\b.*"),
        (84, r"npm (?:ERR!|error) (?:network |5\d\d |429 |.*" + BROKEN + r").*"),
        (86, r"error An unexpected error occurred: .*" + FAULT + r".*"),
        (84, r"➤ YN\d{4}: .*(?:Response Code: 5\d\d|" + BROKEN + r").*"),
        (86, r" ?(?:ERR_PNPM_)(?:META_FETCH_FAIL|FETCH_5\d\d|FETCH_429)\b.*"),
        (84, r"(?:gyp ERR! stack |Error: (?:Failed to download|Client network socket)|info There appears to be trouble).*"),
        (86, r"(?:Failed to download \S+ .*, caused by|The Cypress App could not be downloaded\.|ERROR: Failed to set up chrome).*"),
        (86, r"error: (?:Import '[^']+' failed: |GET https?://\S+ - 5|\w+ downloading (?:package manifest|tarball)).*(?:" + FAULT + r"|\d\d$|Connection\w+|Timeout).*"),
        # python
        (88, r"WARNING: Retrying \(Retry\(total=0.*"),
        (86, r"ERROR: (?:HTTP error (?:5\d\d|429)|Could not install .*" + FAULT + r").*"),
        (86, r"(?:pip\._vendor\.)\S*(?:Timeout|Connection|Protocol|MaxRetry|IncompleteRead|NewConnection)\w*(?:Error)?\b.*"),
        (86, r"\s*HTTPSConnectionPool\(host='(?:pypi\.org|files\.pythonhosted\.org)'.*"),
        (86, r"\s*(?:error: |Caused by: )?(?:Failed to fetch: `|Request failed after \d+ retries|HTTP status server error).*"),
        (86, r"CondaHTTPError: .*"),
        # containers
        (86, r"(?:docker: |ERROR: |#\d+ ERROR: )?(?:Error response from daemon: |failed to (?:solve|fetch|pull|copy|do request|resolve|authorize)).*" + FAULT + r".*"),
        (84, r"(?:ERROR: |error: )?[Cc]annot connect to the Docker daemon.*"),
        (84, r"Error: (?:looks like \"https?://|INSTALLATION FAILED: |failed to (?:fetch|download) ).*" + FAULT + r".*"),
        # systems
        (84, r"(?:E|W): (?:Failed to fetch|The repository '.*' (?:no longer|is not)).*(?:" + FAULT + r"|403 +Forbidden|Mirror sync|Hash Sum mismatch|unexpected size).*"),
        (84, r"(?:E: Unable to fetch some archives|E: Some index files failed|Err:\d+ ).*"),
        (84, r"WARNING: (?:fetching|opening|updating) .*: (?:temporary error|Permission denied|I/O error|network error).*"),
        (84, r"Error: (?:Failed to download metadata for repo|Cannot download repomd).*"),
        # the jvm
        (88, r"\[ERROR\] .*Could not transfer (?:artifact|metadata).*(?:" + FAULT + r"|transfer failed|Remote host terminated).*"),
        (88, r"\s*> Could not (?:GET|HEAD|PUT) '.*"),
        (88, r"\s*> (?:Read timed out|Connect(?:ion)? (?:to .* )?(?:refused|reset|timed out)|Remote host terminated|\S+: (?:Name or service not known|Temporary failure)).*"),
        (88, r"\[error\] .*: download error: .*(?:Timeout|Connect|UnknownHost|5\d\d)\w*.*"),
        (86, r"Exception in thread \"main\" java\.(?:net|io|util\.concurrent)\.\w*(?:Timeout|Connect|UnknownHost|Socket)\w*: .*"),
        # go, rust
        (86, r"go: .*(?:\bdial tcp\b|\bread tcp\b|" + FAULT + r").*"),
        (86, r"error: could not download file from 'https?://.*"),
        (84, r"(?:error: failed to download from|  \[\d+\] (?:Timeout was reached|Could(?:n't| not) resolve|Failed (?:to connect|sending|receiving)|SSL connect error|HTTP/2)|  failed to get successful HTTP response from .* got (?:5\d\d|429)|  network failure seems).*"),
        # others
        (88, r".*error NU1301: .*"),
        (84, r"(?:\S+\.targets\(\d+,\d+\): error :|error :)? *Response status code does not indicate success: 5\d\d.*"),
        (86, r"\[!\] CDN: trunk .*couldn't be downloaded.*|Got socket error trying to find package .*"),
        (84, r"(?:Bundler::HTTPError|Gem::RemoteFetcher::FetchError|Could not fetch specs from|Could not reach (?:host|rubygems)).*"),
        (84, r"\s*(?:curl error \d+ while downloading|The \"https?://[^\"]+\" file could not be downloaded).*"),
        (86, r"[│| ]*(?:Could not retrieve the list of available versions|Error while installing \S+).*" + FAULT + r".*"),
        (86, r"[│| ]*.*could not connect to registry\.\S+.*"),
    )
)
