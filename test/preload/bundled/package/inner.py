from . import __name__ as parent


def told():
    return parent
