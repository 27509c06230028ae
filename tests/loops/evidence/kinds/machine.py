"""The runner and the machine: lost, cancelled, out of time, out of memory."""

from tests.loops.evidence.kinds.case import Case

BUILD = "compiling unit 1\ncompiling unit 2"
CANCELED = ("The operation was canceled.",)
COMPLETED = ("Process completed with exit code 1.",)

CASES = (
    # the machine under the runner
    Case(
        "runner told to shut down",
        "infrastructure",
        BUILD,
        marks=(
            "The runner has received a shutdown signal. This can happen when the runner service is stopped, or a manually started runner is canceled.",
            "Process completed with exit code 143.",
        ),
    ),
    Case(
        "runner told to shut down, then cancelled",
        "infrastructure",
        BUILD,
        marks=(
            "The runner has received a shutdown signal. This can happen when the runner service is stopped, or a manually started runner is canceled.",
            *CANCELED,
        ),
    ),
    Case(
        "hosted runner lost, told by an annotation",
        "infrastructure",
        BUILD,
        marks=CANCELED,
        notes=(
            "The hosted runner lost communication with the server. Anything in your workflow that terminates the runner process, starves it for CPU/Memory, or blocks its network access can cause this error.",
        ),
    ),
    Case(
        "self-hosted runner lost",
        "infrastructure",
        BUILD,
        marks=(
            "The self-hosted runner: build-7 lost communication with the server. Verify the machine is running and has a healthy network connection.",
        ),
    ),
    Case(
        "internal error of GitHub",
        "infrastructure",
        BUILD,
        marks=CANCELED,
        notes=("GitHub Actions has encountered an internal error when running your job.",),
    ),
    Case(
        "disk of the runner is full",
        "infrastructure",
        BUILD,
        marks=(
            "System.IO.IOException: No space left on device : '/github/home/actions-runner/cached/_diag/Worker_20260301-000000-utc.log'",
        ),
    ),
    Case(
        "disk is full for tar",
        "infrastructure",
        "tar: ./usr/lib/libLLVM.so: Cannot write: No space left on device\ntar: Exiting with failure status due to previous errors",
        code=2,
    ),
    Case(
        "disk is full for the linker",
        "infrastructure",
        "/usr/bin/ld: final link failed: No space left on device\ncollect2: error: ld returned 1 exit status",
    ),
    Case(
        "action not to be downloaded",
        "infrastructure",
        "",
        marks=(
            "Failed to download archive 'https://api.github.com/repos/actions/setup-node/tarball/60edb5dd' after 3 attempts.",
        ),
    ),
    Case(
        "action's service answers 503",
        "infrastructure",
        "",
        marks=(
            "Unable to download artifact(s): Failed to GetSignedArtifactURL: Failed to make request after 5 attempts: Failed request: (503) Service Unavailable",
        ),
    ),
    Case(
        "toolchain not to be downloaded by its action",
        "infrastructure",
        "Attempting to download 22...\nNot found in manifest. Falling back to download directly from Node",
        marks=("Unexpected HTTP response: 503",),
    ),
    Case(
        "docker is not there",
        "infrastructure",
        "Cannot connect to the Docker daemon at unix:///var/run/docker.sock. Is the docker daemon running?",
    ),
    # cancelled
    Case("cancelled by a person", "cancelled", BUILD, marks=CANCELED),
    Case(
        "cancelled by a person, told by an annotation",
        "cancelled",
        BUILD,
        marks=CANCELED,
        notes=("The run was canceled by @octocat.",),
    ),
    Case(
        "superseded in its concurrency group",
        "cancelled",
        BUILD,
        marks=CANCELED,
        notes=("Canceling since a higher priority waiting request for ci-refs/pull/7/merge exists",),
    ),
    Case(
        "another job of the matrix failed first",
        "cancelled",
        BUILD,
        marks=CANCELED,
        notes=('The strategy configuration was canceled because "test.ubuntu-latest_3_12" failed',),
    ),
    Case(
        "cancelled amid failing tests",
        "cancelled",
        "tests/test_a.py::test_one PASSED\ntests/test_a.py::test_errors PASSED",
        command="pytest -v",
        marks=CANCELED,
    ),
    Case("told to end by a signal", "cancelled", BUILD, code=143),
    Case("interrupted", "cancelled", BUILD + "\n^C", code=130),
    # out of time
    Case("step's own limit", "timeout", BUILD, marks=("The action 'Run tests' has timed out after 5 minutes.",)),
    Case(
        "job's limit, told by an annotation",
        "timeout",
        BUILD,
        marks=CANCELED,
        notes=("The job running on runner GitHub Actions 12 has exceeded the maximum execution time of 360 minutes.",),
    ),
    Case(
        "job's limit, told in the log",
        "timeout",
        BUILD,
        marks=("The job running on runner ubuntu-7 has exceeded the maximum execution time of 10 minutes.",),
    ),
    Case(
        "newer words for the job's limit",
        "timeout",
        BUILD,
        marks=CANCELED,
        notes=("The job has exceeded the maximum execution time of 6h0m0s",),
    ),
    Case("the command timeout", "timeout", BUILD, command="timeout 600 make", code=124),
    Case(
        "go test",
        "timeout",
        "panic: test timed out after 10m0s\n\trunning tests:\n\t\tTestSlow (10m0s)\n\ngoroutine 1 [chan receive]:\nFAIL\tgithub.com/acme/shop\t600.1s",
        command="go test ./...",
    ),
    Case(
        "waiting for a rollout",
        "timeout",
        'Waiting for deployment "shop" rollout to finish: 0 of 3 updated replicas are available...\nerror: timed out waiting for the condition',
        command="kubectl rollout status deployment/shop",
    ),
    # out of memory
    Case("killed without a word", "memory", BUILD, code=137),
    Case(
        "killed by the kernel, told by bash",
        "memory",
        "/__w/_temp/ab.sh: line 1:  2143 Killed                  npm run build",
        command="npm run build",
        code=137,
    ),
    Case(
        "node",
        "memory",
        "<--- Last few GCs --->\n\nFATAL ERROR: Reached heap limit Allocation failed - JavaScript heap out of memory\n 1: 0xb9c1f0 node::Abort() [node]\nAborted (core dumped)",
        command="npm run build",
        code=134,
    ),
    Case(
        "java",
        "memory",
        'Exception in thread "main" java.lang.OutOfMemoryError: Java heap space\n\tat com.acme.Shop.main(Shop.java:7)',
    ),
    Case(
        "gradle's daemon",
        "memory",
        "FAILURE: Build failed with an exception.\n\n* What went wrong:\nGradle build daemon disappeared unexpectedly (it may have been killed or may have crashed)",
        command="./gradlew build",
    ),
    Case(
        "gcc",
        "memory",
        "c++: fatal error: Killed signal terminated program cc1plus\ncompilation terminated.\nmake: *** [Makefile:7: a.o] Error 1",
        command="make",
        code=2,
    ),
    Case(
        "rustc",
        "memory",
        "error: could not compile `shop` (lib)\n\nCaused by:\n  process didn't exit successfully: `rustc --crate-name shop` (signal: 9, SIGKILL: kill)",
        command="cargo build",
        code=101,
    ),
    Case(
        "go",
        "memory",
        "github.com/acme/shop: /usr/local/go/pkg/tool/linux_amd64/link: signal: killed",
        command="go build ./...",
    ),
    Case(
        "a pod",
        "memory",
        "NAME   READY   STATUS      RESTARTS   AGE\nshop   0/1     OOMKilled   2          1m",
        command="kubectl wait pod/shop",
    ),
    Case(
        "a container of compose",
        "memory",
        "shop-db-1 exited with code 137\ndependency failed to start: container shop-db-1 exited (137)",
        command="docker compose up --wait",
    ),
    Case(
        "the kernel's own words",
        "memory",
        "[ 1234.567890] Out of memory: Killed process 2143 (java) total-vm:9876543kB, anon-rss:7654321kB",
    ),
    Case(
        "python",
        "memory",
        'Traceback (most recent call last):\n  File "load.py", line 3, in <module>\n    rows = [0] * 10**12\nMemoryError',
        command="python load.py",
    ),
)
