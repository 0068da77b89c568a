/** One line of `npm run bench -- --json`: ours beside a baseline, measured in the same run. */
export interface Row {
  name: string;
  value: number;
  unit: string;
  baseline: number | null;
  ratio: number | null;
  target: number | null;
  met: boolean | null;
}

export interface Bench {
  /** A tenth of the size: only to see that it works. */
  quick: boolean;
  row: (row: { name: string; value: number; unit: string; baseline?: number }) => void;
  /** With a target for the ratio of value to baseline, or for the value if there is no baseline. */
  target: (row: {
    name: string;
    value: number;
    unit: string;
    baseline?: number;
    target: number;
    atLeast?: boolean;
  }) => void;
}

export function benchTo(say: (row: Row) => void, quick: boolean): Bench {
  const make = ({ name, value, unit, baseline }: { name: string; value: number; unit: string; baseline?: number }) => ({
    name,
    value: round(value),
    unit,
    baseline: baseline === undefined ? null : round(baseline),
    ratio: baseline === undefined ? null : round(value / baseline),
  });
  return {
    quick,
    row: (row) => say({ ...make(row), target: null, met: null }),
    target(row) {
      const made = make(row);
      const judged = made.ratio ?? made.value;
      say({ ...made, target: row.target, met: row.atLeast ? judged >= row.target : judged <= row.target });
    },
  };
}

const round = (value: number) => Number(value.toPrecision(4));

export function median(values: readonly number[]): number {
  return quantile(values, 0.5);
}

export function quantile(values: readonly number[], q: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * q))] ?? Number.NaN;
}
