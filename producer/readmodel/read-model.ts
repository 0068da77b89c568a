import { rmSync } from 'node:fs';
import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite';
import { RunRow } from '@hotcell/contract/api/runs.ts';
import { Outcome } from '@hotcell/contract/outcomes.ts';
import type { Result, RunStatus } from '@hotcell/contract/result.ts';
import type { Spec } from '@hotcell/contract/spec.ts';
import { emptyTables, schemaVersion, tables } from './read-model-schema.ts';

export interface Wanted {
  status?: RunStatus | Outcome | undefined;
  labels: readonly (readonly [name: string, value: string])[];
  since?: Date | undefined;
  /** The last run of the page before; pages go from newest to oldest. */
  before?: string | undefined;
  limit: number;
}

const insertRun = `insert into runs (run, tenant, status, outcome, reason, exit_code, policy, queue, requester, labels, accepted_at, finished_at)
  values (:run, :tenant, :status, :outcome, :reason, :exitCode, :policy, :queue, :requester, :labels, :acceptedAt, :finishedAt)`;
/** In the order of the open markers' keys, so that both can be read side by side. */
const unfinishedAfter = `select tenant || '/' || run as place from runs
  where status <> 'finished' and substr(run, -1) = ? and tenant || '/' || run > ?
  order by tenant || '/' || run limit ?`;
const page = 200;

/** Lists and filters runs. It can be deleted: it is filled again from the buckets. */
export class ReadModel implements Disposable {
  readonly #db: DatabaseSync;
  /** Statements whose text never changes: compiling one takes longer than executing it. */
  readonly #compiled = new Map<string, StatementSync>();

  private constructor(db: DatabaseSync) {
    this.#db = db;
  }

  /** A file that cannot be read, or has another version, is replaced by an empty one. */
  static open(file: string): ReadModel {
    try {
      return new ReadModel(openFile(file));
    } catch {
      for (const part of ['', '-wal', '-shm']) rmSync(`${file}${part}`, { force: true });
      return new ReadModel(openFile(file));
    }
  }

  [Symbol.dispose](): void {
    this.#db.close();
  }

  empty(): void {
    this.#db.exec(`begin; ${emptyTables} ${tables} commit;`);
  }

  accepted(
    spec: Pick<Spec, 'run' | 'tenant' | 'policy' | 'requester' | 'labels' | 'acceptedAt'>,
    queue: string | null,
  ): void {
    const { run, tenant, labels, acceptedAt } = spec;
    const begun = { status: 'queued', outcome: null, reason: '', exitCode: null, finishedAt: null } as const;
    const [policy, requester] = [spec.policy.name, spec.requester.key];
    this.#insert('on conflict (run) do nothing', {
      run,
      tenant,
      policy,
      queue,
      requester,
      labels,
      acceptedAt,
      ...begun,
    });
  }

  finished(result: Result): void {
    const { run, tenant, status, outcome, reason, exitCode, labels } = result;
    const { acceptedAt, finishedAt } = result.timings;
    const set = `on conflict (run) do update set status = excluded.status, outcome = excluded.outcome,
      reason = excluded.reason, exit_code = excluded.exit_code, finished_at = excluded.finished_at, queue = null`;
    const ended = { run, tenant, status, outcome, reason, exitCode, labels, acceptedAt, finishedAt };
    const policy = result.policy?.name ?? null;
    this.#insert(set, { ...ended, policy, queue: null, requester: result.requester.key });
  }

  /** How far an unfinished run is. A finished run stays finished, whatever arrives late. */
  progressed(run: string, status: Exclude<RunStatus, 'finished'>): void {
    this.#of(`update runs set status = ? where run = ? and status <> 'finished'`).run(status, run);
  }

  /** Known from a message alone: the reason is read from the result when a list shows the run. */
  ended(run: string, outcome: Outcome, at: string): void {
    const set = `status = 'finished', outcome = ?, finished_at = ?, queue = null`;
    this.#of(`update runs set ${set} where run = ? and status <> 'finished'`).run(outcome, at, run);
  }

  list(tenant: string, wanted: Wanted): RunRow[] {
    const where = ['r.tenant = ?'];
    const values: SQLInputValue[] = [tenant];
    const and = (text: string, ...more: SQLInputValue[]) => {
      where.push(text);
      values.push(...more);
    };
    if (wanted.status) and(Outcome.safeParse(wanted.status).success ? 'r.outcome = ?' : 'r.status = ?', wanted.status);
    if (wanted.since) and('r.accepted_at >= ?', wanted.since.toISOString());
    if (wanted.before) and('r.run < ?', wanted.before);
    for (const [name, value] of wanted.labels)
      and(
        'exists (select 1 from labels l where l.tenant = r.tenant and l.name = ? and l.value = ? and l.run = r.run)',
        name,
        value,
      );
    const query = `select * from runs r where ${where.join(' and ')} order by r.run desc limit ?`;
    return this.#db
      .prepare(query)
      .all(...values, wanted.limit)
      .map(rowOf);
  }

  /** The runs of a shard that are not known to be finished, as `<tenant>/<run>` and in that order. */
  *unfinished(shard: string): Generator<string> {
    for (let after = ''; ; ) {
      const rows = this.#of(unfinishedAfter).all(shard, after, page);
      for (const row of rows) yield String(row['place']);
      if (rows.length < page) return;
      after = String(rows.at(-1)?.['place']);
    }
  }

  has(run: string): boolean {
    return this.#of('select 1 from runs where run = ?').get(run) !== undefined;
  }

  knowsEnd(run: string): boolean {
    return this.#of(`select 1 from runs where run = ? and status = 'finished'`).get(run) !== undefined;
  }

  /** A spec without an open marker: it was never accepted. */
  forget(run: string): void {
    this.#of(`delete from runs where run = ? and status <> 'finished'`).run(run);
    this.#of('delete from labels where run = ? and run not in (select run from runs)').run(run);
  }

  /** When the newest known run was accepted: later ones may be missing. */
  newest(): string | undefined {
    const row = this.#of('select max(accepted_at) as at from runs').get();
    return typeof row?.['at'] === 'string' ? row['at'] : undefined;
  }

  #of(text: string): StatementSync {
    const found = this.#compiled.get(text);
    if (found) return found;
    const made = this.#db.prepare(text);
    this.#compiled.set(text, made);
    return made;
  }

  #insert(onConflict: string, row: RunRow): void {
    this.#db.exec('begin');
    try {
      this.#of(`${insertRun} ${onConflict}`).run({ ...row, labels: JSON.stringify(row.labels) });
      const label = this.#of('insert or ignore into labels (tenant, name, value, run) values (?, ?, ?, ?)');
      for (const [name, value] of Object.entries(row.labels)) label.run(row.tenant, name, value, row.run);
      this.#db.exec('commit');
    } catch (error) {
      this.#db.exec('rollback');
      throw error;
    }
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
  return RunRow.parse({ ...same, labels: JSON.parse(String(row['labels'])), exitCode, acceptedAt, finishedAt });
}
