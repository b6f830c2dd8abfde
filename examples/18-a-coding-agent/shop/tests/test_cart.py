from cart import total


def test_without_a_discount():
    assert total([5, 7]) == 12
