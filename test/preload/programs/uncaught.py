import pandas


class Odd(Exception):
    def __str__(self):
        raise RuntimeError("no words")


def deep():
    try:
        {}["missing"]
    except KeyError as error:
        raise ValueError("from here") from error


try:
    deep()
except ValueError as error:
    error.add_note("a note")
    raise ExceptionGroup("several", [error, Odd()])
