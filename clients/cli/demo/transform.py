# filename: transform.py
import os

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import pandas as pd

inputs, outputs = os.environ["HOTCELL_INPUTS"], os.environ["HOTCELL_OUTPUTS"]

sales = pd.read_csv(f"{inputs}/sales/sales.csv", parse_dates=["day"])
print(f"{len(sales)} orders from {sales.day.min():%Y-%m-%d} to {sales.day.max():%Y-%m-%d}")

sales["revenue"] = sales.units * sales.unit_price
monthly = sales.pivot_table(index=sales.day.dt.strftime("%Y-%m"), columns="region", values="revenue", aggfunc="sum")
print("revenue by region:")
print(monthly.sum().round(2).to_string())

monthly.round(2).to_csv(f"{outputs}/revenue.csv")
axes = monthly.plot.bar(stacked=True, figsize=(9, 4), title="Revenue by month and region")
axes.set_xlabel("")
plt.tight_layout()
plt.savefig(f"{outputs}/revenue.png", dpi=110)
print("wrote revenue.csv and revenue.png")
