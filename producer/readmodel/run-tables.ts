import { rmSync } from 'node:fs';
import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite';
import { RunRow } from '@hotcell/contract/api/runs.ts';
import type { RunId } from '@hotcell/contract/names.ts';
import { emptyTables, schemaVersion, tables } from './read-model-schema.ts';
import { queryFor, type Slice, type Wanted } from './run-query.ts';
import type { Change, Place } from './run-changes.ts';

const insertRun = `insert into runs (run, tenant, name, status, outcome, reason, exit_code, policy, queue, requester, labels, inputs, accepted_at, finished_at)
  values (:run, :tenant, :name, :status, :outcome, :reason, :exitCode, :policy, :queue, :requester, :labels, :inputs, :acceptedAt, :finishedAt)`;
const begins = 'on conflict (run) do nothing';
const ends = `on conflict (run) do update set status = excluded.status, outcome = excluded.outcome,
  name = coalesce(runs.name, excluded.name), reason = excluded.reason, exit_code = excluded.exit_code, finished_at = excluded.finished_at, queue = null`;
/** In the order of the open markers' keys, so that both can be read side by side. */
const unfinishedAfter = `select tenant || '/' || run as place from runs
  where status <> 'finished' and substr(run, -1) = ? and tenant || '/' || run > ?
  order by tenant || '/' || run limit ?`;
const given = '(select value from json_each(?))';

/** The read model's tables, in a thread of its own: SQLite answers at once or not at all. */
export class RunTables implements Disposable {
  readonly #db: DatabaseSync;
  /** Statements are compiled once: compiling one takes longer than executing it. */
  readonly #compiled = new Map<string, StatementSync>();

  private constructor(db: DatabaseSync) {
    this.#db = db;
  }

  /** A file that cannot be read, or has another version, is replaced by an empty one. */
  static open(file: string): RunTables {
    try {
      return new RunTables(openFile(file));
    } catch {
      for (const part of ['', '-wal', '-shm']) rmSync(`${file}${part}`, { force: true });
      return new RunTables(openFile(file));
    }
  }

  [Symbol.dispose](): void {
    this.#db.close();
  }

  empty(): void {
    this.#db.exec(`begin; ${emptyTables} ${tables} commit;`);
    this.#compiled.clear();
  }

  /** All or none. Answers the runs that a message named and that are not known. */
  write(changes: readonly Change[]): { tenant: string; run: RunId }[] {
    this.#db.exec('begin');
    try {
      const unknown = changes.flatMap((change) => this.#apply(change) ?? []);
      this.#db.exec('commit');
      return unknown;
    } catch (error) {
      this.#db.exec('rollback');
      throw error;
    }
  }

  /** Some of the runs that are wanted, after looking at so many: the next slice goes on where this one ends. */
  list(tenant: string, wanted: Wanted, scan: number): Slice {
    const { text, values } = queryFor(tenant, wanted);
    const rows: RunRow[] = [];
    let looked = 0;
    let last: string | undefined;
    for (const { fits, ...row } of this.#of(text).iterate(...values)) {
      last = String(row['run']);
      looked++;
      if (fits) rows.push(rowOf(row));
      if (rows.length === wanted.limit || looked === scan) return { rows, before: last };
    }
    return { rows, before: undefined };
  }

  /** The runs of a shard that are not known to be finished, as `<tenant>/<run>` and in that order. */
  unfinished(shard: string, after: string, most: number): string[] {
    return this.#of(unfinishedAfter)
      .all(shard, after, most)
      .map((row) => String(row['place']));
  }

  /** Which of these runs are known, and whether their ends are. */
  known(runs: readonly RunId[]): Map<RunId, { ended: boolean }> {
    const rows = this.#of(`select run, status from runs where run in ${given}`).all(JSON.stringify(runs));
    return new Map(rows.map((row) => [String(row['run']), { ended: row['status'] === 'finished' }]));
  }

  count(): number {
    return Number(this.#of('select count(*) as count from runs').get()?.['count']);
  }

  places(): Place[] {
    return this.#of('select * from places')
      .all()
      .map(({ tenant, tail, day, after }) => ({
        tenant: String(tenant),
        tail: Number(tail),
        day: day === null ? null : String(day),
        after: String(after),
      }));
  }

  #apply(change: Change): { tenant: string; run: RunId } | undefined {
    switch (change.kind) {
      case 'row':
        return this.#insert(change.row);
      case 'progressed':
        // A finished run stays finished, whatever arrives late.
        return this.#update(change, `status = ?`, change.status);
      case 'ended':
        return this.#update(
          change,
          `status = 'finished', outcome = ?, finished_at = ?, queue = null`,
          change.outcome,
          change.at,
        );
      case 'forgotten':
        this.#of(`delete from runs where run = ? and status <> 'finished'`).run(change.run);
        this.#of('delete from labels where run = ? and run not in (select run from runs)').run(change.run);
        return undefined;
      case 'place':
        this.#of('insert or replace into places (tenant, tail, day, after) values (:tenant, :tail, :day, :after)').run({
          ...change.place,
        });
        return undefined;
    }
  }

  #update({ tenant, run }: { tenant: string; run: RunId }, set: string, ...values: SQLInputValue[]) {
    const { changes } = this.#of(`update runs set ${set} where run = ? and status <> 'finished'`).run(...values, run);
    if (changes > 0 || this.#of('select 1 from runs where run = ?').get(run)) return undefined;
    return { tenant, run };
  }

  #insert(row: RunRow): undefined {
    const texts = { labels: JSON.stringify(row.labels), inputs: JSON.stringify(row.inputs) };
    this.#of(`${insertRun} ${row.status === 'finished' ? ends : begins}`).run({ ...row, ...texts });
    const label = this.#of('insert or ignore into labels (tenant, name, value, run) values (?, ?, ?, ?)');
    for (const [name, value] of Object.entries(row.labels)) label.run(row.tenant, name, value, row.run);
  }

  #of(text: string): StatementSync {
    const found = this.#compiled.get(text);
    if (found) return found;
    const made = this.#db.prepare(text);
    this.#compiled.set(text, made);
    return made;
  }
}

function openFile(file: string): DatabaseSync {
  const db = new DatabaseSync(file);
  try {
    // What a power cut loses is filled in again from the buckets.
    db.exec('pragma journal_mode = wal; pragma synchronous = off; pragma busy_timeout = 5000;');
    const version = db.prepare('pragma user_version').get()?.['user_version'];
    if (version !== schemaVersion)
      db.exec(`begin; ${emptyTables} ${tables} pragma user_version = ${schemaVersion}; commit;`);
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
}

function rowOf(row: Record<string, unknown>): RunRow {
  const { exit_code: exitCode, accepted_at: acceptedAt, finished_at: finishedAt, ...same } = row;
  const [labels, inputs] = [JSON.parse(String(row['labels'])), JSON.parse(String(row['inputs']))];
  return RunRow.parse({ ...same, labels, inputs, exitCode, acceptedAt, finishedAt });
}
