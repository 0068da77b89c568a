/** Counters of this process, in the text format of Prometheus. */
type LabelValues = Readonly<Record<string, string>>;

interface Family {
  help: string;
  type: 'counter' | 'gauge';
  values: Map<string, number>;
}

const families = {
  hotcell_http_requests_total: 'Requests answered, by route, method and status.',
  hotcell_runs_accepted_total: 'Runs accepted.',
  hotcell_runs_refused_total: 'Runs refused, by code.',
  hotcell_unauthenticated_total: 'Requests without a valid API key.',
} as const;
export type CounterName = keyof typeof families;

function escapeLabel(value: string): string {
  return value.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n');
}

function labelText(labels: LabelValues): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${escapeLabel(value)}"`);
  return pairs.length > 0 ? `{${pairs.join(',')}}` : '';
}

export interface Gauge {
  name: string;
  help: string;
  rows: readonly { labels: LabelValues; value: number }[];
}

export class Metrics {
  readonly #families = new Map<string, Family>(
    Object.entries(families).map(([name, help]) => [name, { help, type: 'counter', values: new Map() }]),
  );

  count(name: CounterName, labels: LabelValues = {}): void {
    const values = this.#families.get(name)?.values;
    const key = labelText(labels);
    values?.set(key, (values.get(key) ?? 0) + 1);
  }

  exposition(gauges: readonly Gauge[]): string {
    const all: [string, Family][] = [
      ...this.#families,
      ...gauges.map(({ name, help, rows }): [string, Family] => [
        name,
        { help, type: 'gauge', values: new Map(rows.map((row) => [labelText(row.labels), row.value])) },
      ]),
    ];
    return all
      .map(([name, { help, type, values }]) => {
        const rows = [...values].map(([labels, value]) => `${name}${labels} ${value}\n`).join('');
        return `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n${rows}`;
      })
      .join('');
  }
}
