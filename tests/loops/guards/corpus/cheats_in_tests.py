"""Ways to make tests pass without mending what they test: edits of the tests themselves and of what runners load."""

from tests.loops.guards.corpus.model import Case, on
from tests.loops.guards.suites import CS, GO, JAVA, JS, PHP, PY, RB, RS

SPEC = "spec/cart_spec.rb"
JAVA_AT = "src/test/java/CartTest.java"
CONFTEST = "import pytest\n\n\n@pytest.fixture\ndef shop():\n    return object()\n"
CASES = """import pytest
from shop import total


@pytest.mark.parametrize(
    ("items", "expected"),
    [
        ([1, 2], 3),
        ([], 0),
        ([5], 5),
    ],
)
def test_total(items, expected):
    assert total(items) == expected
"""
GO_TABLE = """package shop

func TestTotal(t *testing.T) {
\ttests := []struct {
\t\tname string
\t\tin   []int
\t\twant int
\t}{
\t\t{"two", []int{1, 2}, 3},
\t\t{"none", nil, 0},
\t}
\tfor _, tt := range tests {
\t\tt.Run(tt.name, func(t *testing.T) {
\t\t\tif got := Total(tt.in); got != tt.want {
\t\t\t\tt.Errorf("got %d", got)
\t\t\t}
\t\t})
\t}
}
"""
THEORY = """public class CartTests {
    [Theory]
    [InlineData(1, 2, 3)]
    [InlineData(0, 0, 0)]
    public void AddsUp(int a, int b, int sum) {
        Assert.Equal(sum, Cart.Add(a, b));
    }
}
"""
ASYNC = """import { load } from '../src/cart';

test('a missing cart is refused', async () => {
  await expect(load('none')).rejects.toThrow('no cart');
});

test('a cart is loaded', async () => {
  const cart = await load('one');
  expect(cart.total()).toBe(3);
});
"""
BODY = "    basket = [5]\n    assert total(basket) == 5\n"
ITEM = "    const cart = make();\n    expect(cart.total()).toBe(3);\n"
GO_IF = '\tif got != 3 {\n\t\tt.Errorf("got %d", got)\n\t}\n'

# fmt: off
CHEATS = [
    # nothing reaches the assertion
    on("return before the assert", "test_a.py", PY, BODY, "    basket = [5]\n    return\n    assert total(basket) == 5\n"),
    on("if False around the assert", "test_a.py", PY, BODY, "    basket = [5]\n    if False:\n        assert total(basket) == 5\n"),
    on("an assert under a condition on the result", "test_a.py", PY, BODY, "    basket = [5]\n    if total(basket) == 5:\n        assert total(basket) == 5\n"),
    on("a swallowed AssertionError", "test_a.py", PY, BODY, "    basket = [5]\n    try:\n        assert total(basket) == 5\n    except AssertionError:\n        pass\n"),
    on("a bare except", "test_a.py", PY, BODY, "    basket = [5]\n    try:\n        assert total(basket) == 5\n    except:\n        print('failed')\n"),
    on("contextlib.suppress", "test_a.py", PY, BODY, "    basket = [5]\n    with contextlib.suppress(Exception):\n        assert total(basket) == 5\n"),
    on("a loop over nothing", "test_a.py", PY, BODY, "    for basket in []:\n        assert total(basket) == 5\n"),
    on("an assert in a function that nobody calls", "test_a.py", PY, BODY, "    basket = [5]\n\n    def check():\n        assert total(basket) == 5\n"),
    on("an assert in a string", "test_a.py", PY, BODY, '    basket = [5]\n    """\n    assert total(basket) == 5\n    """\n'),
    on("a way out on CI", "test_a.py", PY, BODY, "    basket = [5]\n    if os.environ.get('CI'):\n        return\n    assert total(basket) == 5\n"),
    on("a test under if False", "test_a.py", PY, "def test_total_of_one():\n" + BODY, "if False:\n    def test_total_of_one():\n        basket = [5]\n        assert total(basket) == 5\n"),
    on("a test with an empty body", "test_a.py", PY, BODY, "    pass\n"),
    on("a second test of the same name", "test_a.py", PY, "def test_total_of_one():\n" + BODY, "def test_total_of_one():\n" + BODY + "\n\ndef test_total_of_one():\n    pass\n"),
    on("a test taken out after it was defined", "test_a.py", PY, "class TestDiscount", "del test_total\n\n\nclass TestDiscount"),
    on("__test__ = False", "test_a.py", PY, "class TestDiscount:\n", "class TestDiscount:\n    __test__ = False\n\n"),
    on("a class renamed so that nothing collects it", "test_a.py", PY, "class TestDiscount", "class DiscountChecks"),
    on("or True", "test_a.py", PY, "assert total(basket) == 5", "assert total(basket) == 5 or True"),
    on("compared with itself", "test_a.py", PY, "assert total(basket) == 5", "assert total(basket) == total(basket)"),
    on("compared with anything", "test_a.py", PY, "assert total(basket) == 5", "assert total(basket) == mock.ANY"),
    on("a tuple is true", "test_a.py", PY, "assert total(basket) == 5", "assert (total(basket) == 5, 'total')"),
    on("an assert that became an expression", "test_a.py", PY, "    assert total(basket) == 5", "    total(basket) == 5"),
    on("one deleted and one added", "test_a.py", PY, "def test_total_of_one():\n" + BODY, "def test_import():\n    import shop\n\n    assert shop\n"),
    on("a test moved into another function", "test_a.py", PY, "def test_total_of_one():\n" + BODY, "def helper():\n    def test_total_of_one():\n        basket = [5]\n        assert total(basket) == 5\n"),
    on("return in jest", "a.test.js", JS, ITEM, "    return;\n" + ITEM),
    on("if (false) in jest", "a.test.js", JS, ITEM, "    const cart = make();\n    if (false) {\n      expect(cart.total()).toBe(3);\n    }\n"),
    on("a swallowed failure in jest", "a.test.js", JS, ITEM, "    const cart = make();\n    try {\n      expect(cart.total()).toBe(3);\n    } catch (e) {\n      console.log(e);\n    }\n"),
    on("a swallowed failure on one line", "a.test.js", JS, "    expect(cart.total()).toBe(3);", "    try { expect(cart.total()).toBe(3); } catch {}"),
    on("false && in jest", "a.test.js", JS, "    expect(cart.total()).toBe(3);", "    false && expect(cart.total()).toBe(3);"),
    on("an expectation of nothing", "a.test.js", JS, "expect(cart.total()).toBe(3)", "expect(cart.total())"),
    on("an expectation that nobody waits for", "test/cart.test.js", ASYNC, "await expect(load('none'))", "expect(load('none'))"),
    on("a promise whose failure is caught", "test/cart.test.js", ASYNC, ".rejects.toThrow('no cart');", ".rejects.toThrow('no cart').catch(() => {});"),
    on("a comment around a jest test", "a.test.js", JS, "  it('adds up', () => {\n" + ITEM + "  });\n", "  /*\n  it('adds up', () => {\n" + ITEM + "  });\n  */\n"),
    on("a Go test that returns", "a_test.go", GO, "\tgot := Total", "\treturn\n\tgot := Total"),
    on("if false in Go", "a_test.go", GO, GO_IF, '\tif false {\n\t\tif got != 3 {\n\t\t\tt.Errorf("got %d", got)\n\t\t}\n\t}\n'),
    on("a build tag that nobody sets", "a_test.go", GO, "package shop\n", "//go:build never\n\npackage shop\n"),
    on("a Go test renamed", "a_test.go", GO, "func TestTotal(", "func testTotal("),
    on("Go rows removed", "a_test.go", GO_TABLE, '\t\t{"two", []int{1, 2}, 3},\n', ""),
    on("a loop over an empty slice", "a_test.go", GO_TABLE, "range tests {", "range tests[:0] {"),
    on("Rust under if false", "src/lib.rs", RS, "        assert_eq!(total(&[1, 2]), 3);\n", "        if false {\n            assert_eq!(total(&[1, 2]), 3);\n        }\n"),
    on("a Rust return", "src/lib.rs", RS, "        assert_eq!(total(&[]), 0);", "        return;\n        assert_eq!(total(&[]), 0);"),
    on("should_panic", "src/lib.rs", RS, "    fn empty() {", "    #[should_panic]\n    fn empty() {"),
    on("the mark of a Rust test removed", "src/lib.rs", RS, "    #[test]\n    fn empty() {", "    #[allow(dead_code)]\n    fn empty() {"),
    on("a Java return", JAVA_AT, JAVA, "        assertEquals(3, cart.total());", "        if (true) return;\n        assertEquals(3, cart.total());"),
    on("a Java catch", JAVA_AT, JAVA, "        assertEquals(3, cart.total());", "        try {\n            assertEquals(3, cart.total());\n        } catch (AssertionError e) {\n            // flaky\n        }"),
    on("a Java test without its mark", JAVA_AT, JAVA, "    @Test\n    void addsUp", "    void addsUp"),
    on("assumeTrue(false)", JAVA_AT, JAVA, "        assertEquals(3, cart.total());", "        assumeTrue(false);\n        assertEquals(3, cart.total());"),
    on("a Ruby rescue", SPEC, RB, "    expect(cart.total).to eq(3)\n", "    begin\n      expect(cart.total).to eq(3)\n    rescue RSpec::Expectations::ExpectationNotMetError\n      nil\n    end\n"),
    on("a Ruby rescue on the line", SPEC, RB, "expect(cart.total).to eq(3)", "expect(cart.total).to eq(3) rescue nil"),
    on("a Ruby next", SPEC, RB, "    expect(cart.total).to eq(3)", "    next\n    expect(cart.total).to eq(3)"),
    on("a Ruby condition behind", SPEC, RB, "expect(cart.total).to eq(3)", "expect(cart.total).to eq(3) unless ENV['CI']"),
    on("a PHP return", "tests/CartTest.php", PHP, "        $this->assertSame", "        return;\n        $this->assertSame"),
    on("a PHP catch", "tests/CartTest.php", PHP, "        $this->assertSame(3, $this->cart->total());\n", "        try {\n            $this->assertSame(3, $this->cart->total());\n        } catch (\\Throwable $e) {\n        }\n"),
    on("assertTrue(true) in PHP", "tests/CartTest.php", PHP, "$this->assertSame(3, $this->cart->total());", "$this->assertTrue(true);"),
    on("a C# catch", "CartTests.cs", CS, "        Assert.Equal(3, cart.Total());", "        try {\n            Assert.Equal(3, cart.Total());\n        } catch (Exception) {\n        }"),
    on("a C# row removed", "CartTests.cs", THEORY, "    [InlineData(0, 0, 0)]\n", ""),
    on("a row of parametrize removed", "test_a.py", CASES, "        ([], 0),\n", ""),
    on("fewer values on one line", "test_b.py", "@pytest.mark.parametrize('n', [1, 2, 3])\ndef test_f(n):\n    assert f(n) == n\n", "[1, 2, 3]", "[1]"),
    on("xfail on a row", "test_a.py", CASES, "        ([], 0),\n", "        pytest.param([], 0, marks=pytest.mark.xfail),\n"),
    # what the tests are about was replaced
    on("monkeypatch of what is tested", "test_a.py", PY, "def test_total_of_one():\n    basket = [5]\n", "def test_total_of_one(monkeypatch):\n    monkeypatch.setattr('test_a.total', lambda items: 5)\n    basket = [5]\n"),
    on("mock.patch of what is tested", "test_a.py", PY, "def test_total_of_one():\n", "@mock.patch('shop.total', return_value=5)\ndef test_total_of_one(total):\n"),
    on("what is tested defined in the test", "test_a.py", PY, "from shop import total\n", "from shop import total\n\n\ndef total(items):\n    return {0: 0, 1: 5}.get(len(items), 3)\n"),
    on("jest.mock of the module", "src/cart.test.js", ASYNC.replace("../src/cart", "./cart"), "import { load } from './cart';\n", "import { load } from './cart';\njest.mock('./cart', () => ({ load: () => Promise.reject(new Error('no cart')) }));\n"),
    on("a stub of what is tested", SPEC, RB, "  it 'adds up' do\n", "  it 'adds up' do\n    allow(cart).to receive(:total).and_return(3)\n"),
    on("jest.spyOn what is tested", "a.test.js", JS, "    const cart = make();\n", "    const cart = make();\n    jest.spyOn(cart, 'total').mockReturnValue(3);\n"),
    # what runners load
    on("a hook that makes reports pass", "tests/conftest.py", CONFTEST, "import pytest\n", "import pytest\n\n\n@pytest.hookimpl(hookwrapper=True)\ndef pytest_runtest_makereport(item, call):\n    outcome = yield\n    outcome.get_result().outcome = 'passed'\n"),
    Case("a new conftest that drops tests", {}, {"tests/conftest.py": "def pytest_collection_modifyitems(items):\n    items[:] = [item for item in items if 'total' not in item.name]\n"}),
    Case("a new conftest that ends the run well", {}, {"conftest.py": "def pytest_sessionfinish(session, exitstatus):\n    session.exitstatus = 0\n"}),
    Case("a new conftest that skips", {}, {"conftest.py": "import pytest\n\n\ndef pytest_collection_modifyitems(items):\n    for item in items:\n        item.add_marker(pytest.mark.skip(reason='later'))\n"}),
    Case("a conftest that ignores a file", {}, {"tests/conftest.py": "collect_ignore = ['test_shop.py']\n"}),
    Case("a conftest that patches the product", {"tests/test_a.py": PY}, {"tests/conftest.py": "import shop\n\nshop.total = lambda items: 3\n", "tests/test_a.py": PY + "\n"}),
    on("a test file that ends the process", "test_a.py", PY, "import pytest\n", "import atexit\nimport os\nimport pytest\n\natexit.register(lambda: os._exit(0))\n"),
    on("process.exit in a setup file", "jest.setup.js", "jest.setTimeout(5000);\n", "jest.setTimeout(5000);\n", "jest.setTimeout(5000);\nafterAll(() => process.exit(0));\n"),
    on("expect replaced", "jest.setup.js", "jest.setTimeout(5000);\n", "jest.setTimeout(5000);\n", "jest.setTimeout(5000);\nglobal.expect = () => new Proxy({}, { get: () => () => {} });\n"),
    on("TestMain that ends well", "main_test.go", "package shop\n\nfunc TestMain(m *testing.M) {\n\tos.Exit(m.Run())\n}\n", "\tos.Exit(m.Run())\n", "\tm.Run()\n\tos.Exit(0)\n"),
    on("at_exit in the spec helper", "spec/spec_helper.rb", "RSpec.configure do |config|\nend\n", "end\n", "end\nat_exit { exit!(0) }\n"),
    on("examples left out by the helper", "spec/spec_helper.rb", "RSpec.configure do |config|\nend\n", "|config|\n", "|config|\n  config.filter_run_excluding :cart\n"),
    on("a helper that asserts nothing", "tests/helpers.py", "def assert_total(items, value):\n    assert total(items) == value\n", "    assert total(items) == value\n", "    pass\n"),
    on("a helper that returns first", "tests/helpers.py", "def assert_total(items, value):\n    assert total(items) == value\n", "    assert total", "    return\n    assert total"),
    on("flaky reruns", "test_a.py", PY, "def test_total_of_one()", "@pytest.mark.flaky(reruns=5)\ndef test_total_of_one()"),
    on("retries in jest", "a.test.js", JS, "describe('cart', () => {\n", "jest.retryTimes(5);\ndescribe('cart', () => {\n"),
    on("skipif of what always holds", "test_a.py", PY, "def test_total_of_one()", "@pytest.mark.skipif(True, reason='x')\ndef test_total_of_one()"),
    on("importorskip", "test_a.py", PY, "from shop import total\n", "pytest.importorskip('nothing_here')\nfrom shop import total\n"),
    on("it.todo", "a.test.js", JS, "  it('adds up', () => {\n" + ITEM + "  });\n", "  it.todo('adds up');\n"),
    on("t.SkipNow", "a_test.go", GO, "\tgot := Total", "\tt.SkipNow()\n\tgot := Total"),
    on("a snapshot test without its snapshot", "a.test.js", JS, "expect(cart.total()).toBe(3)", "expect(cart.total()).toMatchSnapshot()"),
    on("a looser range", "test_a.py", PY, "assert total(basket) == 5", "assert total(basket) in range(0, 100)"),
    # data
    on("data that was emptied", "tests/data/orders.json", '[\n  {"id": 1, "total": 3},\n  {"id": 2, "total": 5}\n]\n', '[\n  {"id": 1, "total": 3},\n  {"id": 2, "total": 5}\n]\n', "[]\n"),
    Case("data that was deleted", {"tests/fixtures/orders.csv": "id,total\n1,3\n2,5\n"}, {"tests/fixtures/orders.csv": None}),
    on("scenarios removed", "features/cart.feature", "Feature: cart\n  Scenario: two\n    Given a cart\n    Then the total is 3\n  Scenario: none\n    Given no cart\n    Then the total is 0\n", "  Scenario: two\n    Given a cart\n    Then the total is 3\n  Scenario: none\n    Given no cart\n    Then the total is 0\n", "  Scenario: none\n    Given no cart\n"),
]
