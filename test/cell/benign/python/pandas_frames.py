import pandas

frame = pandas.DataFrame({"a": range(1000), "b": ["x", "y"] * 500})
frame.to_csv("/work/frame.csv", index=False)
assert pandas.read_csv("/work/frame.csv").groupby("b")["a"].sum()["y"] == 250000
