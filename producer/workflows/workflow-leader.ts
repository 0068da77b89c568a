import type { LiveEvent } from '@hotcell/contract/heartbeats.ts';
import type { RunId } from '@hotcell/contract/names.ts';
import { collectMark, openWorkflows, readWorkflow, readWorkflowEnd } from '@hotcell/record/workflow-records.ts';
import { Led, type LedTask } from '../led.ts';
import type { Producer } from '../producer.ts';
import { advanceWorkflow } from './advance-workflow.ts';
import { tellEndOf } from './end-workflow.ts';
import { type KnownWorkflow, knowWorkflow } from './known-workflow.ts';

/**
 * Goes on with the workflows of all tenants. One producer leads. The record drives: what comes next follows from the
 * definition and the results of runs. Messages only wake.
 */
export class WorkflowLeader implements LedTask, AsyncDisposable {
  readonly name = 'workflows';
  readonly #producer: Producer;
  readonly #known = new Map<string, KnownWorkflow>();
  readonly #awaited = new Map<RunId, string>();
  readonly #subscribed: Promise<Disposable>;
  readonly #led: Led;

  constructor(producer: Producer) {
    this.#producer = producer;
    this.#subscribed = producer.live.onEvent((event) => this.#heard(event));
    this.#led = new Led(producer, this);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#led[Symbol.asyncDispose]();
    (await this.#subscribed)[Symbol.dispose]();
  }

  async *list(): AsyncGenerator<{ tenant: string; key: string }> {
    for await (const { tenant, id } of openWorkflows(this.#producer.store)) yield { tenant, key: `${tenant}/${id}` };
  }

  forget(key: string): void {
    const known = this.#known.get(key);
    this.#known.delete(key);
    for (const { run } of known?.tasks.values() ?? []) if (run !== null) this.#awaited.delete(run);
  }

  async look(key: string, keep: () => Promise<void>): Promise<number | undefined> {
    const known = this.#known.get(key) ?? (await this.#know(key));
    if (!known) return undefined;
    this.#known.set(key, known);
    const at = await advanceWorkflow(this.#producer, known, keep);
    if (at === undefined) this.forget(key);
    else this.#listen(key, known);
    return at;
  }

  /** Undefined for one that has ended, because a leader died before it removed the mark, and for one that isn't made. */
  async #know(key: string): Promise<KnownWorkflow | undefined> {
    const { store } = this.#producer;
    const [tenant = '', id = ''] = key.split('/');
    const end = await readWorkflowEnd(store, { tenant, id });
    const workflow = await readWorkflow(store, { tenant, id });
    if (end) {
      await tellEndOf(store, end, workflow?.callback);
      return undefined;
    }
    if (workflow) return knowWorkflow(workflow);
    await collectMark(store, { tenant, id });
    return undefined;
  }

  /** A run may end before it is listened for: the next look finds it. */
  #listen(key: string, { tasks }: KnownWorkflow): void {
    for (const { run, outcome } of tasks.values()) {
      if (run === null) continue;
      if (outcome === undefined) this.#awaited.set(run, key);
      else this.#awaited.delete(run);
    }
  }

  #changed(tenant: string, key: string): void {
    const known = this.#known.get(key);
    if (known) known.cancelReadAt = 0;
    this.#led.wake(tenant, key);
  }

  #heard(event: LiveEvent): void {
    if (event.type === 'workflow') return this.#changed(event.tenant, `${event.tenant}/${event.workflow}`);
    if (event.type !== 'status' || event.status !== 'finished') return;
    const key = this.#awaited.get(event.run);
    if (key !== undefined) this.#led.wake(event.tenant, key);
  }
}
