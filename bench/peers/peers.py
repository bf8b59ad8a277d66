"""Two published private estimators, written from the descriptions in their papers.

CoinPress (Biswas, Dong, Kamath and Ullman, NeurIPS 2020): a ball that holds the mean, or an
ellipsoid that holds the covariance, shrinks from step to step. Shifted clipped mean (Huang, Liang
and Yi, NeurIPS 2021): rotate, find a median of every column, clip at a quantile of the norms.
Neighbours differ in one row, replaced. Privacy is zCDP. Noise is made of doubles, so this is for
measuring only.

Reads JSON from the standard input: {"file": rows as .npy, "runs": [{"method": ..., ...}]}. Prints a
list of estimates, one for each run.
"""
import json
import math
import sys

import numpy as np


def shares(rho, steps):
    """Three quarters of rho for the last step, the rest shared equally by those before."""
    if steps == 1:
        return [rho]
    return [rho / 4 / (steps - 1)] * (steps - 1) + [0.75 * rho]


def norm_bound(dimension, failure):
    """A norm that a standard normal vector exceeds with at most this probability."""
    log = math.log(1 / failure)
    return math.sqrt(dimension + 2 * math.sqrt(dimension * log) + 2 * log)


def clipped(rows, radius):
    norms = np.linalg.norm(rows, axis=1)
    return rows * np.minimum(1, radius / np.maximum(norms, 1e-300))[:, None]


def coinpress_mean(rows, random, rho, steps, radius):
    """The mean of rows with covariance I, known to be within `radius` of the origin."""
    count, dimension = rows.shape
    centre = np.zeros(dimension)
    reach = norm_bound(dimension, 0.01)
    for part in shares(rho, steps):
        ball = radius + reach
        # Rows deviate from the mean in every direction, so few stand farther along the radius.
        ball = min(ball, math.sqrt(radius ** 2 + 6 * radius + reach ** 2))
        deviation = 2 * ball / count / math.sqrt(2 * part)
        noise = random.normal(0, deviation, dimension)
        centre = centre + clipped(rows - centre, ball).mean(axis=0) + noise
        radius = math.sqrt(1 / count + deviation ** 2) * norm_bound(dimension, 0.01)
    return centre


def inverse_root(matrix):
    values, vectors = np.linalg.eigh(matrix)
    return vectors @ np.diag(1 / np.sqrt(values)) @ vectors.T


def coinpress_covariance(rows, random, rho, steps, bound):
    """The covariance of rows with mean 0, known to be between I and `bound` times I."""
    count, dimension = rows.shape
    change = np.eye(dimension) / math.sqrt(bound)
    ball = norm_bound(dimension, 0.1)
    ratio = math.sqrt(dimension / count)
    sampling = 0.5 * (2 * ratio + ratio ** 2)
    for step, part in enumerate(shares(rho, steps)):
        mapped = clipped(rows @ change.T, ball)
        # Replacing a row changes the products by at most sqrt(2) ball^2 in Frobenius norm.
        deviation = ball ** 2 / count / math.sqrt(part)
        upper = np.triu(random.normal(0, deviation, (dimension, dimension)))
        found = mapped.T @ mapped / count + upper + np.triu(upper, 1).T
        values, vectors = np.linalg.eigh(found)
        found = vectors @ np.diag(np.maximum(values, 0)) @ vectors.T
        if step + 1 < steps:
            change = inverse_root(found + sampling * np.eye(dimension)) @ change
    back = np.linalg.inv(change)
    return back @ found @ back.T


def noisy_quantiles(columns, rank, low, high, rho, random, rounds=10):
    """By bisection, for each column: about the value below which `rank` entries lie."""
    width = columns.shape[1]
    low, high = np.full(width, low), np.full(width, high)
    deviation = math.sqrt(rounds / (2 * rho))
    for _ in range(rounds):
        middle = (low + high) / 2
        below = (columns <= middle).sum(axis=0) + random.normal(0, deviation, width)
        low = np.where(below <= rank, middle, low)
        high = np.where(below <= rank, high, middle)
    return (low + high) / 2


def shifted_clipped_mean(rows, random, rho, radius):
    """The mean of rows within `radius` of the origin in every direction that matters."""
    count, dimension = rows.shape
    rotation, _ = np.linalg.qr(random.normal(size=(dimension, dimension)))
    turned = rows @ rotation.T
    side = radius / math.sqrt(dimension)
    centre = noisy_quantiles(turned, count / 2, -side, side, rho / 4 / dimension, random)
    left = 0.75 * rho
    norm_part, mean_part = 0.25 * left, 0.75 * left
    moved = turned - centre
    rank = count - 2 * math.sqrt(dimension / (2 * mean_part)) - math.sqrt(10 / (2 * norm_part))
    norms = np.linalg.norm(moved, axis=1)[:, None]
    ball = noisy_quantiles(norms, max(rank, 0), 0, radius, norm_part, random)[0]
    noise = random.normal(0, 2 * ball / count / math.sqrt(2 * mean_part), dimension)
    return (clipped(moved, ball).mean(axis=0) + noise + centre) @ rotation


methods = {
    "coinpress-mean": coinpress_mean,
    "coinpress-covariance": coinpress_covariance,
    "shifted-clipped-mean": shifted_clipped_mean,
}


def main():
    asked = json.load(sys.stdin)
    rows = np.load(asked["file"])
    answers = []
    for run in asked["runs"]:
        random = np.random.default_rng(run.pop("seed"))
        answers.append(methods[run.pop("method")](rows, random, **run).ravel().tolist())
    json.dump(answers, sys.stdout)


if __name__ == "__main__":
    main()
