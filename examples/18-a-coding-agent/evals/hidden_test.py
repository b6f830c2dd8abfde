from cart import total

assert total([5, 7], discount=2) == 10
