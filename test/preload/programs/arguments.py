import argparse
import pandas

parser = argparse.ArgumentParser(description="A program with arguments.")
parser.add_argument("file", type=int)
parser.parse_args()
