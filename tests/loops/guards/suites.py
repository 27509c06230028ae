"""Small test suites in several languages, as they stand before a change, and what the guard notes of one."""

from pathlib import Path

from github.repositories.config import RepositoryConfig
from tests.loops.guards.proposals import Files, Turn, codes

FREE = RepositoryConfig(protected_paths=[])

PY = """import pytest
from shop import total


def test_total():
    assert total([1, 2]) == 3
    assert total([]) == 0


def test_total_of_one():
    basket = [5]
    assert total(basket) == 5


class TestDiscount:
    def test_half(self):
        self.assertEqual(half(10), 5)
"""
JS = """describe('cart', () => {
  it('adds up', () => {
    const cart = make();
    expect(cart.total()).toBe(3);
  });

  it('is empty at first', () => {
    expect(make().items).toEqual([]);
  });
});
"""
GO = """package shop

func TestTotal(t *testing.T) {
\tgot := Total([]int{1, 2})
\tif got != 3 {
\t\tt.Errorf("got %d", got)
\t}
}

func TestEmpty(t *testing.T) {
\trequire.Equal(t, 0, Total(nil))
}
"""
RS = """pub fn total(a: &[i32]) -> i32 { a.iter().sum() }

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn adds_up() {
        assert_eq!(total(&[1, 2]), 3);
    }

    #[test]
    fn empty() {
        assert_eq!(total(&[]), 0);
    }
}
"""
JAVA = """class CartTest {
    @Test
    void addsUp() {
        assertEquals(3, cart.total());
    }

    @Test
    void isEmpty() {
        assertEquals(0, new Cart().total());
    }
}
"""
CI = """name: ci
on: push
jobs:
  test:
    runs-on: ubuntu-latest
    steps:
      - uses: actions/checkout@v4
      - run: pip install -r requirements.txt
      - run: pytest -q
"""
RB = """RSpec.describe Cart do
  it 'adds up' do
    expect(cart.total).to eq(3)
  end

  it 'is empty' do
    expect(Cart.new.total).to eq(0)
  end
end
"""
CS = """public class CartTests {
    [Fact]
    public void AddsUp() {
        Assert.Equal(3, cart.Total());
    }
}
"""
PHP = """<?php
class CartTest extends TestCase {
    public function testAddsUp(): void {
        $this->assertSame(3, $this->cart->total());
    }
}
"""


def edit(text: str, old: str, new: str) -> str:
    assert text.count(old) == 1, old
    return text.replace(old, new)


async def noted(folder: Path, before: Files, after: Files) -> list[str]:
    """The codes of what is noted, and not refused, of a change; each note names its file."""
    found = await Turn(folder, before, after).found(config=FREE)
    assert found.publishable
    for note in found.notes:
        assert note.path in note.text or note.code == "test_deleted"
    return codes(found.notes)
