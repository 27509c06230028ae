import unittest

import degrees


class Degrees(unittest.TestCase):
    def test_celsius_to_fahrenheit(self):
        self.assertEqual(degrees.celsius_to_fahrenheit(100), 212)

    def test_fahrenheit_to_celsius(self):
        self.assertEqual(degrees.fahrenheit_to_celsius(32), 0)


if __name__ == "__main__":
    unittest.main()
