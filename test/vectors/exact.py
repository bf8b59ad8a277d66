"""Writes exact.json: exponentials, logarithms and divergences with 100 digits, by Python's decimal.

    python3 test/vectors/exact.py > test/vectors/exact.json
"""
from decimal import Decimal, getcontext

from records import record_lines

getcontext().prec = 200
PLACES = Decimal(10) ** -100
REACH = 400


def text(value):
    return format(value.quantize(PLACES), 'f')


def ratio(pair):
    return Decimal(pair[0]) / Decimal(pair[1])


def gaussian(variance):
    weights = {y: (-(Decimal(y) ** 2) / (2 * variance)).exp() for y in range(-REACH, REACH + 1)}
    total = sum(weights.values())
    return {y: weight / total for y, weight in weights.items()}


def laplace(scale):
    weights = {y: (-abs(Decimal(y)) / scale).exp() for y in range(-REACH, REACH + 1)}
    ratio = (-1 / scale).exp()
    return {y: weight * (1 - ratio) / (1 + ratio) for y, weight in weights.items()}


def divergence(left, right, order):
    both = [y for y in left if y in right]
    return sum(left[y] ** order * right[y] ** (1 - order) for y in both).ln() / (order - 1)


def hockey_stick(left, right, epsilon):
    factor = epsilon.exp()
    return sum(max(Decimal(0), p - factor * right.get(y, Decimal(0))) for y, p in left.items())


def shifted(law, by):
    return {y + by: p for y, p in law.items()}


EXPONENTS = [(1, 1), (-1, 1), (1, 3), (-7, 2), (40, 1), (-100, 1), (1, 10**6), (-3, 10**9), (123, 7)]
NUMBERS = [(2, 1), (1, 2), (3, 1), (10**9, 1), (1, 10**9), (1000001, 1000000), (17, 19)]
VARIANCES = [(1, 1), (9, 4), (1, 2), (5, 1)]
SCALES = [(3, 2), (1, 1)]
ORDERS = [(3, 2), (2, 1), (3, 1)]
EPSILONS = [(0, 1), (1, 2), (1, 1)]


def pairs(kind, sizes, lawOf):
    for size in sizes:
        law = lawOf(ratio(size))
        for shift in (1, 2):
            other = shifted(law, shift)
            yield {
                'kind': kind, 'size': size, 'shift': shift,
                'probabilities': [text(law[y]) for y in range(4)],
                'divergences': [
                    [order, text(divergence(law, other, ratio(order)))]
                    for order in ORDERS
                ],
                'hockeySticks': [
                    [epsilon, text(hockey_stick(law, other, ratio(epsilon)))]
                    for epsilon in EPSILONS
                ],
            }


print(record_lines({
    'exponentials': [[pair, text(ratio(pair).exp())] for pair in EXPONENTS],
    'logarithms': [[pair, text(ratio(pair).ln())] for pair in NUMBERS],
    'pairs': [*pairs('gaussian', VARIANCES, gaussian), *pairs('laplace', SCALES, laplace)],
}))
