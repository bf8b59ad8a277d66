"""Answers lines of "task dimension rows" with wall and CPU seconds, on one thread: the numpy side of bench/kernels.js."""
import sys
import time

import numpy
import scipy.linalg

kept = {}


def symmetric(dimension):
    matrix = numpy.random.default_rng(1).uniform(-1, 1, (dimension, dimension))
    return (matrix + matrix.T) / 2


def prepare(task, dimension, rows):
    if task == "gram":
        data = numpy.random.default_rng(1).uniform(-1, 1, (rows, dimension))
        return lambda: data.T @ data
    matrix = symmetric(dimension)
    if task == "eigen":
        return lambda: numpy.linalg.eigh(matrix)
    if task == "product":
        return lambda: matrix @ matrix
    return lambda: scipy.linalg.expm(matrix)


for line in sys.stdin:
    key = line.strip()
    task, dimension, rows = key.split()
    if key not in kept:
        kept.clear()
        kept[key] = prepare(task, int(dimension), int(rows))
        kept[key]()
    wall, cpu = time.perf_counter(), time.process_time()
    kept[key]()
    print(time.perf_counter() - wall, time.process_time() - cpu, flush=True)
