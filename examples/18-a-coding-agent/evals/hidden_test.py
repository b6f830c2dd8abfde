import unittest

from cart import total


class Discount(unittest.TestCase):
    def test_is_taken_once(self):
        self.assertEqual(total([5, 7], discount=2), 10)
