"""The network, a registry or a mirror let the build down, as its own tools tell it."""

from tests.loops.evidence.kinds.case import Case

CASES = tuple(
    Case(name, "infrastructure", output)
    for name, output in {
        "npm, connection reset": """
npm error code ECONNRESET
npm error network aborted
npm error network This is a problem related to network connectivity.
npm error network In most cases you are behind a proxy or have bad network settings.""",
        "npm, registry 503": """
npm error code E503
npm error 503 Service Unavailable - GET https://registry.npmjs.org/lodash - Service Unavailable
npm error A complete log of this run can be found in: /github/home/.npm/_logs/2026-03-01T00_00_00_000Z-debug-0.log""",
        "npm before version 10, registry 502": """
npm ERR! code E502
npm ERR! 502 Bad Gateway - GET https://registry.npmjs.org/react""",
        "npm, name not resolved": """
npm error code EAI_AGAIN
npm error syscall getaddrinfo
npm error errno EAI_AGAIN
npm error request to https://registry.npmjs.org/jest failed, reason: getaddrinfo EAI_AGAIN registry.npmjs.org""",
        "yarn, socket timed out": """
[2/4] Fetching packages...
error An unexpected error occurred: "https://registry.yarnpkg.com/react/-/react-18.2.0.tgz: ESOCKETTIMEDOUT".
info If you think this is a bug, please open a bug report with the information provided in "yarn-error.log".""",
        "yarn berry, registry 500": """
➤ YN0035: │ lodash@npm:4.17.21: The remote server failed to provide the requested resource
➤ YN0035: │   Response Code: 500 (Internal Server Error)
➤ YN0035: │   Request Method: GET
➤ YN0000: · Failed with errors in 3s 204ms""",
        "pnpm, registry 503": """
 WARN  GET https://registry.npmjs.org/foo error (ERR_PNPM_FETCH_503). Will retry in 10 seconds. 2 retries left.
 ERR_PNPM_FETCH_503  GET https://registry.npmjs.org/foo: Service Unavailable - 503""",
        "pnpm, name not resolved": """
 ERR_PNPM_META_FETCH_FAIL  GET https://registry.npmjs.org/foo: request to https://registry.npmjs.org/foo failed, reason: getaddrinfo EAI_AGAIN registry.npmjs.org""",
        "pip, read timed out": """
Collecting numpy
WARNING: Retrying (Retry(total=0, connect=None, read=None, redirect=None, status=None)) after connection broken by 'ReadTimeoutError("HTTPSConnectionPool(host='pypi.org', port=443): Read timed out. (read timeout=15)")': /simple/numpy/
ERROR: Could not find a version that satisfies the requirement numpy (from versions: none)
ERROR: No matching distribution found for numpy""",
        "pip, index 503": """
ERROR: HTTP error 503 while getting https://files.pythonhosted.org/packages/ab/cd/numpy-2.1.0.tar.gz
ERROR: Could not install requirement numpy from https://files.pythonhosted.org/packages/ab/cd/numpy-2.1.0.tar.gz because of HTTP error 503 Server Error: Service Unavailable for url: https://files.pythonhosted.org/packages/ab/cd/numpy-2.1.0.tar.gz""",
        "pip, connection broken in its own traceback": """
ERROR: Exception:
Traceback (most recent call last):
  File "/opt/hostedtoolcache/Python/3.12.3/x64/lib/python3.12/site-packages/pip/_vendor/urllib3/response.py", line 438, in _error_catcher
    yield
pip._vendor.urllib3.exceptions.ReadTimeoutError: HTTPSConnectionPool(host='files.pythonhosted.org', port=443): Read timed out.""",
        "uv, index 503": """
error: Failed to fetch: `https://pypi.org/simple/numpy/`
  Caused by: Request failed after 3 retries
  Caused by: HTTP status server error (503 Service Unavailable) for url (https://pypi.org/simple/numpy/)""",
        "poetry, all attempts failed": """
  ConnectionError

  HTTPSConnectionPool(host='pypi.org', port=443): Max retries exceeded with url: /simple/attrs/ (Caused by NewConnectionError('<urllib3.connection.HTTPSConnection object at 0x7f2a>: Failed to establish a new connection: [Errno -3] Temporary failure in name resolution'))

  at ~/.local/share/pypoetry/venv/lib/python3.12/site-packages/requests/adapters.py:700 in send""",
        "docker pull, registry 503": """
Error response from daemon: received unexpected HTTP status: 503 Service Unavailable""",
        "docker pull, rate limit": """
docker: Error response from daemon: toomanyrequests: You have reached your pull rate limit. You may increase the limit by authenticating and upgrading: https://www.docker.com/increase-rate-limit.""",
        "docker pull, no answer": """
Error response from daemon: Get "https://registry-1.docker.io/v2/": net/http: request canceled while waiting for connection (Client.Timeout exceeded while awaiting headers)""",
        "buildx, base image not to be had": """
#3 [internal] load metadata for docker.io/library/python:3.12-slim
#3 ERROR: failed to copy: httpReadSeeker: failed open: unexpected status code https://registry-1.docker.io/v2/library/python/manifests/sha256:ab12: 503 Service Unavailable
------
 > [internal] load metadata for docker.io/library/python:3.12-slim:
------
ERROR: failed to solve: python:3.12-slim: failed to resolve source metadata for docker.io/library/python:3.12-slim: failed to copy: httpReadSeeker: failed open: unexpected status code https://registry-1.docker.io/v2/library/python/manifests/sha256:ab12: 503 Service Unavailable""",
        "buildx, handshake timed out": """
ERROR: failed to solve: node:22: failed to do request: Head "https://registry-1.docker.io/v2/library/node/manifests/22": net/http: TLS handshake timeout""",
        "apt, mirror 503": """
Err:12 http://azure.archive.ubuntu.com/ubuntu jammy-updates/main amd64 libcurl4 amd64 7.81.0-1ubuntu1.15
  503  Service Unavailable [IP: 20.81.13.136 80]
E: Failed to fetch http://azure.archive.ubuntu.com/ubuntu/pool/main/c/curl/libcurl4_7.81.0-1ubuntu1.15_amd64.deb  503  Service Unavailable [IP: 20.81.13.136 80]
E: Unable to fetch some archives, maybe run apt-get update or try with --fix-missing?""",
        "apt, no answer": """
Err:1 http://archive.ubuntu.com/ubuntu noble InRelease
  Could not connect to archive.ubuntu.com:80 (185.125.190.36), connection timed out
W: Failed to fetch http://archive.ubuntu.com/ubuntu/dists/noble/InRelease  Could not connect to archive.ubuntu.com:80 (185.125.190.36), connection timed out
E: Some index files failed to download. They have been ignored, or old ones used instead.""",
        "apt, mirror out of step": """
E: Failed to fetch http://azure.archive.ubuntu.com/ubuntu/dists/jammy/main/binary-amd64/Packages.gz  File has unexpected size (1793842 != 1793838). Mirror sync in progress? [IP: 20.81.13.136 80]
E: Some index files failed to download. They have been ignored, or old ones used instead.""",
        "apk, mirror away": """
fetch https://dl-cdn.alpinelinux.org/alpine/v3.20/main/x86_64/APKINDEX.tar.gz
WARNING: fetching https://dl-cdn.alpinelinux.org/alpine/v3.20/main: temporary error (try again later)
ERROR: unable to select packages:
  git (no such package):
    required by: world[git]""",
        "maven, central 503": """
[ERROR] Failed to execute goal on project shop: Could not resolve dependencies for project com.acme:shop:jar:1.0: Could not transfer artifact org.slf4j:slf4j-api:pom:2.0.9 from/to central (https://repo.maven.apache.org/maven2): transfer failed for https://repo.maven.apache.org/maven2/org/slf4j/slf4j-api/2.0.9/slf4j-api-2.0.9.pom, status: 503 Service Unavailable -> [Help 1]""",
        "maven, connection reset": """
[ERROR] Plugin org.apache.maven.plugins:maven-jar-plugin:3.4.1 or one of its dependencies could not be resolved: Could not transfer artifact org.apache.maven.plugins:maven-jar-plugin:pom:3.4.1 from/to central (https://repo.maven.apache.org/maven2): Connection reset -> [Help 1]""",
        "gradle, repository 502": """
* What went wrong:
Execution failed for task ':compileJava'.
> Could not resolve all files for configuration ':compileClasspath'.
   > Could not resolve com.google.guava:guava:33.0.0-jre.
      > Could not get resource 'https://repo.maven.apache.org/maven2/com/google/guava/guava/33.0.0-jre/guava-33.0.0-jre.pom'.
         > Could not GET 'https://repo.maven.apache.org/maven2/com/google/guava/guava/33.0.0-jre/guava-33.0.0-jre.pom'. Received status code 502 from server: Bad Gateway""",
        "gradle wrapper, no answer": """
Downloading https://services.gradle.org/distributions/gradle-8.10-bin.zip
Exception in thread "main" java.net.SocketTimeoutException: Read timed out
	at org.gradle.wrapper.Download.downloadInternal(Download.java:87)
	at org.gradle.wrapper.GradleWrapperMain.main(GradleWrapperMain.java:67)""",
        "go, proxy not resolved": """
go: github.com/acme/lib@v1.2.3: Get "https://proxy.golang.org/github.com/acme/lib/@v/v1.2.3.mod": dial tcp: lookup proxy.golang.org on 127.0.0.53:53: server misbehaving""",
        "go, proxy 502": """
go: downloading golang.org/x/sync v0.8.0
go: golang.org/x/sync@v0.8.0: reading https://proxy.golang.org/golang.org/x/sync/@v/v0.8.0.zip: 502 Bad Gateway""",
        "cargo, spurious": """
warning: spurious network error (3 tries remaining): [28] Timeout was reached (failed to download any data for `serde v1.0.210` within 30s)
error: failed to download from `https://static.crates.io/crates/serde/1.0.210/download`

Caused by:
  [28] Timeout was reached (failed to download any data for `serde v1.0.210` within 30s)""",
        "cargo, index 503": """
    Updating crates.io index
error: failed to get `serde` as a dependency of package `shop v0.1.0 (/__w/shop/shop)`

Caused by:
  failed to query replaced source registry `crates-io`

Caused by:
  failed to get successful HTTP response from `https://index.crates.io/se/rd/serde` (151.101.2.137), got 503""",
        "git, host not resolved": """
fatal: unable to access 'https://github.com/octo/repo/': Could not resolve host: github.com""",
        "git, 503": """
remote: Internal Server Error
fatal: unable to access 'https://github.com/octo/repo/': The requested URL returned error: 503""",
        "git, hung up": """
error: RPC failed; curl 56 GnuTLS recv error (-54): Error in the pull function.
error: 6340 bytes of body are still expected
fetch-pack: unexpected disconnect while reading sideband packet
fatal: early EOF
fatal: fetch-pack: invalid index-pack output""",
        "curl, 503 from a download": """
curl: (22) The requested URL returned error: 503""",
        "wget, 502": """
--2026-03-01 00:00:00--  https://example.org/tool.tar.gz
HTTP request sent, awaiting response... 502 Bad Gateway
2026-03-01 00:00:01 ERROR 502: Bad Gateway.""",
        "nuget, index 503": """
/usr/share/dotnet/sdk/8.0.401/NuGet.targets(186,5): error :   Response status code does not indicate success: 503 (Service Unavailable).
/__w/shop/shop/shop.csproj : error NU1301: Unable to load the service index for source https://api.nuget.org/v3/index.json.""",
        "bundler, rubygems 503": """
Bundler::HTTPError Could not fetch specs from https://rubygems.org/ due to underlying error <bad response Service Unavailable 503 (https://rubygems.org/specs.4.8.gz)>""",
        "composer, packagist timed out": """
  [Composer\\Downloader\\TransportException]
  curl error 28 while downloading https://repo.packagist.org/packages.json: Connection timed out after 10002 milliseconds""",
        "helm, chart repository away": """
Error: looks like "https://charts.bitnami.com/bitnami" is not a valid chart repository or cannot be reached: Get "https://charts.bitnami.com/bitnami/index.yaml": context deadline exceeded""",
        "terraform, registry away": """
╷
│ Error: Failed to query available provider packages
│
│ Could not retrieve the list of available versions for provider hashicorp/aws: could not connect to registry.terraform.io: failed to request discovery document: 503 Service Unavailable
╵""",
        "conda, channel away": """
CondaHTTPError: HTTP 503 SERVICE UNAVAILABLE for url <https://conda.anaconda.org/conda-forge/linux-64/repodata.json>""",
        "playwright, browser not downloaded": """
Downloading Chromium 129.0.6668.29 (playwright build v1134) from https://playwright.azureedge.net/builds/chromium/1134/chromium-linux.zip
Error: connect ETIMEDOUT 13.107.213.40:443
Failed to install browsers
Error: Failed to download Chromium 129.0.6668.29 (playwright build v1134), caused by
Error: Download failure, code=1""",
    }.items()
)
