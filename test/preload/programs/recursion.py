import pandas
import sys, traceback


def depth(n=0):
    try:
        return depth(n + 1)
    except RecursionError:
        return n


print(depth(), traceback.extract_stack())
traceback.print_stack()


def endless():
    endless()


endless()
