import polars

frame = polars.DataFrame({"a": list(range(10000)), "b": ["x", "y"] * 5000})
assert frame.lazy().group_by("b").agg(polars.col("a").sum()).collect().height == 2
