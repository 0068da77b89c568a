import pyarrow
import pyarrow.parquet

table = pyarrow.table({"a": list(range(10000))})
pyarrow.parquet.write_table(table, "/work/table.parquet", compression="zstd")
assert pyarrow.parquet.read_table("/work/table.parquet").num_rows == 10000
