"""Programs and tests that speak of networks, rights, time and memory, while the failure is the code's or the test's."""

from tests.loops.evidence.kinds.case import Case

SUMMARY = "=========================== short test summary info ============================"


def _pytest(name: str, *said: str, error: str) -> Case:
    output = [
        "collected 9 items",
        "=================================== FAILURES ===================================",
        "__________________________________ test_total __________________________________",
        ">       client.fetch()",
        *said,
        f"E       {error}",
        "tests/test_shop.py:5: " + error.split(":")[0].split(".")[-1],
        SUMMARY,
        f"FAILED tests/test_shop.py::test_total - {error}",
        "========================= 1 failed, 8 passed in 0.12s =========================",
    ]
    return Case(f"pytest: {name}", "test", "\n".join(output), command="pytest")


CASES = (
    _pytest(
        "access denied",
        error="botocore.exceptions.ClientError: An error occurred (AccessDenied) when calling the GetObject operation: Access Denied",
    ),
    _pytest("connection refused", error="ConnectionRefusedError: [Errno 111] Connection refused"),
    _pytest(
        "a host that is not there",
        error="requests.exceptions.ConnectionError: HTTPSConnectionPool(host='api.example.com', port=443): Max retries exceeded with url: /v1 (Caused by NewConnectionError('Failed to establish a new connection'))",
    ),
    _pytest("no space left, mocked", error="OSError: [Errno 28] No space left on device"),
    _pytest("permission denied", error="PermissionError: [Errno 13] Permission denied: '/etc/shop.conf'"),
    _pytest(
        "a 503 of its own server",
        "------------------------------ Captured log call -------------------------------",
        "ERROR    shop.http:http.py:31 503 Service Unavailable from upstream",
        "ERROR    shop.http:http.py:40 connection refused",
        error="AssertionError: assert 503 == 200",
    ),
    _pytest(
        "words of the runner in an assertion", error="AssertionError: assert 'The operation was canceled.' == 'done'"
    ),
    _pytest("out of memory in an assertion", error="AssertionError: assert 'java.lang.OutOfMemoryError' in ''"),
    _pytest(
        "its own output of a failing npm",
        "----------------------------- Captured stdout call -----------------------------",
        "npm error code ECONNRESET",
        "npm error network aborted",
        error="AssertionError: assert 1 == 0",
    ),
    _pytest(
        "killed, in an assertion",
        "----------------------------- Captured stderr call -----------------------------",
        "Killed",
        error="AssertionError: assert -9 == 0",
    ),
    _pytest(
        "its own curl",
        "----------------------------- Captured stderr call -----------------------------",
        "curl: (7) Failed to connect to localhost port 8080 after 0 ms: Connection refused",
        error="AssertionError: assert 7 == 0",
    ),
    _pytest(
        "its own docker",
        "----------------------------- Captured stderr call -----------------------------",
        'Error response from daemon: Get "https://registry-1.docker.io/v2/": net/http: TLS handshake timeout',
        error="AssertionError: assert 1 == 0",
    ),
    Case(
        "jest: connection refused",
        "test",
        "FAIL src/cart.test.js\n  ● cart › saves\n\n    Error: connect ECONNREFUSED 127.0.0.1:5432\n\n      at TCPConnectWrap.afterConnect [as oncomplete] (node:net:1494:16)\n\nTests:       1 failed, 3 passed, 4 total",
        command="npx jest",
    ),
    Case(
        "jest: a mock of the API's refusal",
        "test",
        '  console.error\n    HttpError: Resource not accessible by integration\n\n      at log (src/api.js:3:11)\n\nFAIL src/api.test.js\n  ● api › says why\n\n    expect(received).toBe(expected)\n\n    Expected: "no"\n    Received: "yes"\n\nTests:       1 failed, 1 total',
        command="npx jest",
    ),
    Case(
        "go test: connection refused",
        "test",
        "--- FAIL: TestStore (0.01s)\n    store_test.go:12: dial tcp 127.0.0.1:6379: connect: connection refused\nFAIL\nFAIL\tgithub.com/acme/shop/store\t0.021s\nFAIL",
        command="go test ./...",
    ),
    Case(
        "go test: context deadline exceeded",
        "test",
        "2026/03/01 00:00:00 ERROR fetch failed: context deadline exceeded\n--- FAIL: TestFetch (2.00s)\n    fetch_test.go:12: got context deadline exceeded, want nil\nFAIL\nFAIL\tgithub.com/acme/shop/fetch\t2.021s",
        command="go test ./...",
    ),
    Case(
        "maven: connection refused in a test",
        "test",
        "[ERROR] Tests run: 1, Failures: 0, Errors: 1, Skipped: 0, Time elapsed: 0.1 s <<< ERROR! -- in com.acme.ShopTest\n[ERROR] com.acme.ShopTest.saves -- Time elapsed: 0.09 s <<< ERROR!\njava.net.ConnectException: Connection refused\n\tat com.acme.ShopTest.saves(ShopTest.java:12)\n[ERROR] Tests run: 4, Failures: 0, Errors: 1, Skipped: 0\n[ERROR] Failed to execute goal org.apache.maven.plugins:maven-surefire-plugin:3.2.5:test (default-test) on project shop: There are test failures.",
        command="mvn -B verify",
    ),
    Case(
        "rspec: connection refused",
        "test",
        'Failures:\n\n  1) Store saves\n     Failure/Error: store.save\n\n     Errno::ECONNREFUSED:\n       Connection refused - connect(2) for "127.0.0.1" port 6379\n     # ./spec/store_spec.rb:7:in `block (2 levels) in <top (required)>\'\n\n3 examples, 1 failure\n\nFailed examples:\n\nrspec ./spec/store_spec.rb:6 # Store saves',
        command="bundle exec rspec",
    ),
    Case(
        "playwright: a page that does not come",
        "test",
        "  1) [chromium] › cart.spec.ts:3:1 › opens the cart\n\n    Test timeout of 30000ms exceeded.\n\n    Error: page.goto: net::ERR_CONNECTION_REFUSED at http://localhost:3000/\n\n    > 4 |   await page.goto('/');\n        at /__w/shop/shop/tests/cart.spec.ts:4:14\n\n  1 failed\n    [chromium] › cart.spec.ts:3:1 › opens the cart",
        command="npx playwright test",
    ),
    Case(
        "cargo test: a socket",
        "test",
        "running 2 tests\ntest net::closes ... ok\ntest net::opens ... FAILED\n\nfailures:\n\n---- net::opens stdout ----\nthread 'net::opens' panicked at src/net.rs:7:5:\ncalled `Result::unwrap()` on an `Err` value: Os { code: 111, kind: ConnectionRefused, message: \"Connection refused\" }\n\nfailures:\n    net::opens\n\ntest result: FAILED. 1 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s\n\nerror: test failed, to rerun pass `--lib`",
        command="cargo test",
        code=101,
    ),
)
# a program of the repository spoke; what it was is not known, but it was not the machinery
PROGRAMS = (
    Case(
        "its server is refused",
        "",
        "INFO starting\nERROR: connection refused (3)\nError: could not start",
        command="./start-shop",
    ),
    Case(
        "its own curl finds nothing",
        "",
        "curl: (7) Failed to connect to localhost port 8080 after 0 ms: Connection refused",
        command="curl -f http://localhost:8080/health",
        code=7,
    ),
    Case(
        "its health check answers 503",
        "",
        "curl: (22) The requested URL returned error: 503",
        command="curl -f http://127.0.0.1:8080/health",
        code=22,
    ),
    Case(
        "axios",
        "",
        "AxiosError: Request failed with status code 503\n    at settle (/__w/shop/shop/node_modules/axios/lib/core/settle.js:19:12)\n    at seed (/__w/shop/shop/scripts/seed.js:7:3)",
        command="node scripts/seed.js",
    ),
    Case(
        "a migration",
        "",
        'Traceback (most recent call last):\n  File "manage.py", line 7, in <module>\n    main()\n  File "/__w/shop/shop/shop/db.py", line 3, in connect\npsycopg2.OperationalError: connection to server at "localhost" (127.0.0.1), port 5432 failed: Connection refused',
        command="python manage.py migrate",
    ),
    Case(
        "its log speaks of a rate limit",
        "",
        'time=2026-03-01T00:00:00Z level=error msg="429 Too Many Requests" path=/v1\nError: seeding failed',
        command="./seed",
    ),
)
