"""Numbers of privacy accounting by ways of their own, at 30 digits: python3 accounting.py > accounting.json.

Needs mpmath. Nothing here is shared with the library: the Gaussian's delta is an integral of the hockey stick, orders
are searched by golden section on the formula as printed, compositions are sums over binomials, and tails are sums.
"""
from fractions import Fraction
from math import comb, floor, log, sqrt

from mpmath import mp, mpf, exp, log as mlog, quad, pi, sqrt as msqrt, erfc, findroot

from records import record_lines

mp.dps = 30


def text(value):
    return mp.nstr(mpf(value), 18)


def gaussian_delta(epsilon, sigma):
    """Integral of max(0, p - e^epsilon q) for N(1, sigma^2) and N(0, sigma^2)."""
    sigma = mpf(sigma)
    density = lambda x, m: exp(-((x - m) / sigma) ** 2 / 2) / (sigma * msqrt(2 * pi))
    start = mpf(epsilon) * sigma ** 2 + mpf(1) / 2
    stops = [start + k * sigma for k in (0, 1, 2, 4, 8, 16, 32)]
    return quad(lambda x: density(x, 1) - exp(mpf(epsilon)) * density(x, 0), stops)


def gaussian_sigma(epsilon, delta):
    start = max(msqrt(2 * mlog(1 / mpf(delta))) / epsilon, mpf(1) / 2)
    miss = lambda t: mlog(gaussian_delta(epsilon, exp(t))) - mlog(mpf(delta))
    return exp(findroot(miss, (mlog(start), mlog(start * 0.7)), solver='anderson', tol=1e-22))


def zcdp_epsilon(rho, delta):
    """inf over a > 1 of a rho + (log(1/delta) + (a-1) log(1-1/a) - log a) / (a-1)."""
    rho, delta = mpf(rho), mpf(delta)

    def value(t):
        a = 1 + exp(t)
        return a * rho + (-mlog(delta) + (a - 1) * mlog(1 - 1 / a) - mlog(a)) / (a - 1)

    low, high = mpf(-10), mpf(30)
    ratio = (msqrt(5) - 1) / 2
    for _ in range(150):
        one, two = high - ratio * (high - low), low + ratio * (high - low)
        if value(one) < value(two):
            high = two
        else:
            low = one
    return max(mpf(0), value((low + high) / 2))


def zcdp_rho(epsilon, delta):
    low, high = mpf(0), mpf(epsilon)
    for _ in range(90):
        middle = (low + high) / 2
        if zcdp_epsilon(middle, delta) <= epsilon:
            low = middle
        else:
            high = middle
    return low


def approximate_filter(epsilon, slack, each):
    """Releases of `each` until sqrt(2 log(1/slack) sum e^2) + sum e^2 / 2 passes epsilon."""
    count = 0
    while sqrt(2 * log(1 / slack) * (count + 1) * each ** 2) + (count + 1) * each ** 2 / 2 <= epsilon:
        count += 1
    return count


def response_delta(each, times, epsilon):
    """Randomised response of epsilon `each`, composed: sum over how often the truth was told."""
    odds = exp(mpf(each))
    p = odds / (1 + odds)
    total = mpf(0)
    for k in range(times + 1):
        loss = (2 * k - times) * mpf(each)
        if loss > epsilon:
            total += comb(times, k) * p ** k * (1 - p) ** (times - k) * (1 - exp(mpf(epsilon) - loss))
    return total


def upper_quantile(delta):
    return findroot(lambda x: mlog(erfc(x / msqrt(2)) / 2) - mlog(mpf(delta)), (3, 5))


def exact_cost(pairs):
    """Sum of (sensitivity / sigma)^2 / 2, in units of 2^-64, rounded up; the doubles are taken exactly."""
    total = sum((Fraction(s) / Fraction(t)) ** 2 / 2 for s, t in pairs)
    units = total * 2 ** 64
    return -((-units.numerator) // units.denominator)


vectors = {
    'gaussianSigma': [
        {'epsilon': e, 'delta': d, 'sigma': text(gaussian_sigma(e, d))}
        for e, d in [(0.1, 1e-6), (1, 1e-5), (1, 1e-6), (3, 1e-6), (0.5, 1e-9), (8, 1e-6), (0.01, 1e-3)]
    ],
    'zcdpEpsilon': [
        {'rho': r, 'delta': d, 'epsilon': text(zcdp_epsilon(r, d))}
        for r, d in [(0.005, 1e-6), (0.05, 1e-6), (0.5, 1e-6), (0.0001, 1e-9), (2, 1e-12), (10, 1e-3)]
    ],
    'zcdpRho': [
        {'epsilon': e, 'delta': d, 'rho': text(zcdp_rho(e, d))}
        for e, d in [(1, 1e-6), (0.5, 1e-6), (4, 1e-6), (1, 1e-9)]
    ],
    'capacity': [
        {
            'each': each, 'epsilon': 1, 'delta': 1e-6,
            'basic': floor(Fraction(1) / Fraction(str(each))),
            'approximate': approximate_filter(1, 1e-6, each),
            'zcdp': int(zcdp_rho(1, 1e-6) / (mpf(str(each)) ** 2 / 2)),
        }
        for each in (0.01, 0.05)
    ],
    'composedGaussian': [
        {'rho': r, 'times': t, 'epsilon': e, 'delta': text(gaussian_delta(e, 1 / msqrt(2 * mpf(r) * t)))}
        for r, t, e in [(0.005, 10, 1), (0.01, 50, 4), (0.001, 365, 2)]
    ],
    'composedResponse': [
        {'each': e, 'times': t, 'epsilon': x, 'delta': text(response_delta(e, t, x))}
        for e, t, x in [(0.1, 50, 1), (0.5, 20, 4)]
    ],
    'upperQuantile': [{'delta': d, 'z': text(upper_quantile(d))} for d in (1e-3, 1e-6, 1e-9, 1e-12)],
    'ledger': [
        {'pairs': pairs, 'units': str(exact_cost(pairs))}
        for pairs in ([[1, 4.25]], [[0.1, 3.7], [1.4142135623730951, 7.1]], [[1e-9, 1e3], [8.7, 46.93]])
    ],
}
print(record_lines(vectors))
