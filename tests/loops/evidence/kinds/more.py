"""Further tools, and further words for the same."""

from tests.loops.evidence.kinds.case import cases, marks

NETWORK = (
    *cases(
        "infrastructure",
        (
            "apt, mirror forbids",
            "sudo apt-get install -y jq",
            100,
            "Err:1 https://packages.microsoft.com/repos/code stable InRelease\n  403  Forbidden [IP: 13.107.246.64 443]\nE: Failed to fetch https://packages.microsoft.com/repos/code/dists/stable/InRelease  403  Forbidden [IP: 13.107.246.64 443]\nE: The repository 'https://packages.microsoft.com/repos/code stable InRelease' is no longer signed.",
        ),
        (
            "gradle, read timed out",
            "./gradlew build",
            1,
            "* What went wrong:\nCould not resolve all dependencies for configuration ':classpath'.\n> Could not resolve com.android.tools.build:gradle:8.5.0.\n  Required by:\n      project :\n   > Could not get resource 'https://dl.google.com/dl/android/maven2/com/android/tools/build/gradle/8.5.0/gradle-8.5.0.pom'.\n      > Read timed out",
        ),
        (
            "sbt, socket timed out",
            "sbt test",
            1,
            "[error] lmcoursier.internal.shaded.coursier.error.FetchError$DownloadingArtifacts: Error fetching artifacts:\n[error] https://repo1.maven.org/maven2/org/typelevel/cats-core_2.13/2.10.0/cats-core_2.13-2.10.0.jar: download error: Caught java.net.SocketTimeoutException (Read timed out) while downloading https://repo1.maven.org/maven2/org/typelevel/cats-core_2.13/2.10.0/cats-core_2.13-2.10.0.jar",
        ),
        (
            "pip, retries exceeded",
            "pip install numpy",
            1,
            "ERROR: Could not install packages due to an OSError: HTTPSConnectionPool(host='files.pythonhosted.org', port=443): Max retries exceeded with url: /packages/numpy.whl (Caused by ConnectTimeoutError(<pip._vendor.urllib3.connection.HTTPSConnection object at 0x7f>, 'Connection to files.pythonhosted.org timed out. (connect timeout=15)'))",
        ),
        (
            "rustup, download",
            "rustup toolchain install stable",
            1,
            "info: downloading component 'rustc'\nerror: could not download file from 'https://static.rust-lang.org/dist/2026-02-01/rustc-1.84.0-x86_64-unknown-linux-gnu.tar.xz' to '/github/home/.rustup/downloads/ab.partial': error decoding response body: operation timed out",
        ),
        (
            "powershell, 502",
            "install.ps1",
            1,
            "Invoke-WebRequest: The remote server returned an error: (502) Bad Gateway.",
        ),
        (
            "chocolatey, 503",
            "choco install jq",
            1,
            "Error retrieving packages from source 'https://community.chocolatey.org/api/v2/':\n The remote server returned an error: (503) Server Unavailable.",
        ),
        (
            "cypress, download",
            "npm ci",
            1,
            "The Cypress App could not be downloaded.\n\nDoes your workplace require a proxy to be used to access the Internet?\n\nError: connect ETIMEDOUT 104.18.24.7:443",
        ),
        (
            "node-gyp, headers",
            "npm ci",
            1,
            "npm error gyp ERR! stack FetchError: request to https://nodejs.org/download/release/v22.9.0/node-v22.9.0-headers.tar.gz failed, reason: connect ETIMEDOUT 104.20.22.46:443",
        ),
        (
            "deno, import",
            "deno test",
            1,
            "error: Import 'https://deno.land/std@0.224.0/assert/mod.ts' failed: 503 Service Unavailable",
        ),
        ("bun, registry", "bun install", 1, "error: GET https://registry.npmjs.org/react - 503"),
        (
            "cocoapods, cdn",
            "pod install",
            1,
            "[!] CDN: trunk URL couldn't be downloaded: https://cdn.cocoapods.org/all_pods_versions_a_7_5.txt Response: 503",
        ),
        ("pub, socket", "flutter pub get", 69, "Got socket error trying to find package http at https://pub.dev."),
        (
            "git, http2",
            "git clone https://github.com/octo/repo",
            128,
            "fatal: unable to access 'https://github.com/octo/repo/': HTTP/2 stream 1 was not closed cleanly before end of the underlying stream",
        ),
        (
            "git, port 443 timed out",
            "git fetch",
            128,
            "fatal: unable to access 'https://github.com/octo/repo/': Failed to connect to github.com port 443 after 130987 ms: Couldn't connect to server",
        ),
        (
            "in a docker build",
            "docker build .",
            1,
            "#9 [4/7] RUN pip install -r requirements.txt\n#9 2.114 WARNING: Retrying (Retry(total=0, connect=None, read=None, redirect=None, status=None)) after connection broken by 'NewConnectionError('<pip._vendor.urllib3.connection.HTTPSConnection object at 0x7f>: Failed to establish a new connection: [Errno -3] Temporary failure in name resolution')': /simple/flask/\n#9 2.911 ERROR: Could not find a version that satisfies the requirement flask (from versions: none)\n#9 2.912 ERROR: No matching distribution found for flask\n#9 ERROR: process \"/bin/sh -c pip install -r requirements.txt\" did not complete successfully: exit code: 1\n------\nERROR: failed to solve: process \"/bin/sh -c pip install -r requirements.txt\" did not complete successfully: exit code: 1",
        ),
    ),
    *marks(
        "infrastructure",
        ("an action's connection was reset", "read ECONNRESET"),
        ("an action's name server", "getaddrinfo EAI_AGAIN api.github.com"),
        ("an action's fetch", "fetch failed"),
        ("an action's connection timed out", "Connect Timeout Error"),
        ("the API's rate limit", "API rate limit exceeded for installation ID 123456."),
        ("the job was not acquired", "The job was not acquired by Runner of type hosted even after multiple attempts"),
        ("no runner", "No runner matching the specified labels was found: [self-hosted, gpu]"),
    ),
)
MEMORY = cases(
    "memory",
    (
        "npm, killed by a signal",
        "npm run build",
        1,
        "npm error path /__w/shop/shop\nnpm error command failed\nnpm error signal SIGKILL\nnpm error command sh -c vite build",
    ),
    ("pnpm, 137", "pnpm build", 137, " ELIFECYCLE  Command failed with exit code 137."),
    (
        "in a docker build",
        "docker build .",
        1,
        '#12 [build 5/6] RUN npm run build\n#12 41.02 Killed\n#12 ERROR: process "/bin/sh -c npm run build" did not complete successfully: exit code: 137\nERROR: failed to solve: process "/bin/sh -c npm run build" did not complete successfully: exit code: 137',
    ),
    (
        "the linker",
        "cargo build",
        101,
        'error: linking with `cc` failed: exit status: 1\n  = note: collect2: fatal error: ld terminated with signal 9 [Killed]\n          compilation terminated.\n\nerror: could not compile `shop` (bin "shop") due to 1 previous error',
    ),
    (
        "a java machine that cannot start",
        "mvn test",
        1,
        "OpenJDK 64-Bit Server VM warning: INFO: os::commit_memory(0x00000006c0000000, 2147483648, 0) failed; error='Not enough space' (errno=12)\n# There is insufficient memory for the Java Runtime Environment to continue.",
    ),
    (
        "gradle's test worker",
        "./gradlew test",
        1,
        "* What went wrong:\nExecution failed for task ':test'.\n> Process 'Gradle Test Executor 3' finished with non-zero exit value 137",
    ),
    (
        "jest's worker",
        "npx jest",
        1,
        "Error [ERR_WORKER_OUT_OF_MEMORY]: Worker terminated due to reaching memory limit: JS heap out of memory",
    ),
    ("fork fails", "make -j64", 2, "/bin/sh: 1: Cannot fork\nmake: vfork: Cannot allocate memory"),
)
PERMISSION = (
    *cases(
        "permission",
        (
            "docker login without a password",
            'docker login ghcr.io -u octo -p "$TOKEN"',
            1,
            "Error: Cannot perform an interactive login from a non TTY device",
        ),
        (
            "docker login refused",
            "docker login ghcr.io",
            1,
            'Error response from daemon: Get "https://ghcr.io/v2/": denied: denied',
        ),
        (
            "vercel without a login",
            "vercel deploy",
            1,
            'Error: No existing credentials found. Please run `vercel login` or pass "--token"',
        ),
        (
            "firebase without a login",
            "firebase deploy",
            1,
            "Error: Failed to authenticate, have you run firebase login?",
        ),
        (
            "terraform without credentials",
            "terraform plan",
            1,
            '╷\n│ Error: No valid credential sources found\n│\n│   with provider["registry.terraform.io/hashicorp/aws"],\n│   on main.tf line 1, in provider "aws":\n│    1: provider "aws" {}\n╵',
        ),
        (
            "gpg without the key",
            "git commit -S",
            128,
            'error: gpg failed to sign the data:\ngpg: skipped "bot@example.com": No secret key\ngpg: signing failed: No secret key\nfatal: failed to write commit object',
        ),
        (
            "ssh key that is empty",
            "git push",
            128,
            'Load key "/github/home/.ssh/id_ed25519": error in libcrypto\ngit@github.com: Permission denied (publickey).\nfatal: Could not read from remote repository.',
        ),
        (
            "gcloud, forbidden",
            "gcloud run deploy",
            1,
            "ERROR: (gcloud.run.deploy) PERMISSION_DENIED: Permission 'run.services.get' denied on resource",
        ),
        (
            "maven deploy, unauthorized",
            "mvn deploy",
            1,
            "[ERROR] Failed to execute goal org.apache.maven.plugins:maven-deploy-plugin:3.1.2:deploy (default-deploy) on project shop: Failed to deploy artifacts: Could not transfer artifact com.acme:shop:jar:1.0 from/to github (https://maven.pkg.github.com/octo/shop): status code: 401, reason phrase: Unauthorized (401) -> [Help 1]",
        ),
        (
            "nuget push, forbidden",
            "dotnet nuget push",
            1,
            "error: Response status code does not indicate success: 403 (The specified API key is invalid, has expired, or does not have permission to access the specified package.).",
        ),
    ),
    *marks(
        "permission",
        (
            "trusted publishing",
            "Trusted publishing exchange failure: \nToken request failed: the server refused the request for the following reasons:".replace(
                "\n", ""
            ),
        ),
        ("an empty token, in other words", "Parameter token or opts.auth is required"),
        ("a token that is not set", "GITHUB_TOKEN is not set"),
        ("a service's token", "SONAR_TOKEN environment variable is missing or empty"),
    ),
)
OTHERS = (
    *cases(
        "timeout",
        (
            "a server that does not come",
            "npx wait-on http://localhost:3000",
            1,
            "Error: Timed out waiting for: http://localhost:3000",
        ),
        (
            "pods that do not come",
            "kubectl wait --for=condition=ready pod/shop",
            1,
            "error: timed out waiting for the condition on pods/shop",
        ),
        ("helm", "helm upgrade --install shop . --wait", 1, "Error: UPGRADE FAILED: context deadline exceeded"),
    ),
    *cases(
        "configuration",
        (
            "no git repository",
            "git describe",
            128,
            "fatal: not a git repository (or any of the parent directories: .git)",
        ),
        (
            "docker has no such command",
            "docker compsoe up",
            1,
            "docker: 'compsoe' is not a docker command.\nSee 'docker --help'",
        ),
        ("no such make target of npm", "npm run", 1, 'npm error Missing script: "bild"'),
        (
            "python has no such module to run",
            "python -m tosts",
            1,
            "/opt/hostedtoolcache/Python/3.12.3/x64/bin/python: No module named tosts",
        ),
    ),
    *cases(
        "test",
        (
            "a retry that worked, then a failing test",
            "npm ci && npx jest",
            1,
            "npm http fetch GET https://registry.npmjs.org/a attempt 1 failed with ETIMEDOUT\nadded 300 packages in 9s\nFAIL src/a.test.js\n  ● a › adds\n\n    expect(received).toBe(expected)\n\n    Expected: 3\n    Received: 4\n\nTests:       1 failed, 1 total",
        ),
    ),
    *cases(
        "code",
        (
            "a mirror that was overcome, then a compiler",
            "sudo apt-get update; make",
            2,
            "Err:1 http://archive.ubuntu.com/ubuntu noble InRelease\nE: Failed to fetch http://archive.ubuntu.com/ubuntu/dists/noble/InRelease  503  Service Unavailable [IP: 20.81.13.136 80]\n"
            + "".join(f"gcc -c unit_{n}.c\n" for n in range(30))
            + "shop.c:3:5: error: 'x' undeclared (first use in this function)\nmake: *** [Makefile:2: shop.o] Error 1",
        ),
    ),
)
BUILDS = (
    *cases(
        "lint",
        (
            "checkstyle in maven",
            "mvn -B verify",
            1,
            "[ERROR] src/main/java/acme/Rig.java:[18,5] (indentation) Indentation: 'method def modifier' has incorrect indentation level 4.\n[INFO] BUILD FAILURE\n[ERROR] Failed to execute goal org.apache.maven.plugins:maven-checkstyle-plugin:3.3.1:check (validate) on project rig: You have 1 Checkstyle violation. -> [Help 1]",
        ),
        (
            "psalm",
            "vendor/bin/psalm",
            2,
            "ERROR: UndefinedMethod - src/Rig.php:44:16 - Method Rig::sway does not exist",
        ),
        (
            "license headers",
            "license-eye header check",
            1,
            "ERROR the following files don't have a valid license header: \ncmd/rig/main.go",
        ),
        (
            "clang-tidy, warnings as errors",
            "make tidy",
            1,
            "/__w/rig/rig/src/a.cpp:4:20: error: variable 'z' is not initialized [cppcoreguidelines-init-variables,-warnings-as-errors]\nint g(int n) { int z; }\n1 warning treated as error",
        ),
    ),
    *cases(
        "configuration",
        (
            "ansible, a template that is not there",
            "ansible-playbook site.yml",
            2,
            'TASK [Render the vhost] ****\nfatal: [localhost]: FAILED! => {"changed": false, "msg": "Could not find or access \'vhost.j2\'"}',
        ),
    ),
    *cases(
        "test",
        (
            "a benchmark",
            "cargo bench",
            1,
            "encode  time: [31.2 µs 31.5 µs 31.8 µs]\n        change: [+22% +23% +25%] (p = 0.00 < 0.05)\n        Performance has regressed.",
        ),
        (
            "zig, a test with spaces in its name",
            "zig build test",
            1,
            "1/3 t.test.half of odd...expected 2, found 1\nFAIL (TestExpectedEqual)\n2 passed; 0 skipped; 1 failed.\nerror: the following test command failed with exit code 1:",
        ),
    ),
    *cases(
        "code",
        (
            "latex, an unknown macro",
            "make paper.pdf",
            2,
            "This is pdfTeX, Version 3.141592653-2.6-1.40.24 (TeX Live 2022)\n! Undefined control sequence.\nl.7 \\knots\n           {12}",
        ),
    ),
)
CASES = (*NETWORK, *MEMORY, *PERMISSION, *OTHERS, *BUILDS)
