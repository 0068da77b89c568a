import { HotcellError, messageOf } from '@hotcell/contract/errors.ts';
import { within } from '@hotcell/contract/waits.ts';
import * as bull from 'bullmq';
import { arrival } from './arrange.ts';
import { type Envelope, openEnvelope, usualCpus } from './envelope.ts';
import type { Entry, QueuePlace, Pull, Queue, Service } from './queue.ts';
import { arrangeKeys, nameOf, prefix, type QueueSettings, retryStrategy } from './queue-names.ts';
import { runScript } from './queue-scripts.ts';
import { TicketPull } from './ticket-pull.ts';

const answerWithinMs = 5_000;
/** Of what no pull did. */
const noPull = '';

/** A queue of BullMQ's, in which our scripts keep the order. */
export class BullQueue implements Queue {
  readonly #settings: QueueSettings;
  readonly #name: string;
  #opened: bull.Queue | undefined;

  constructor(settings: QueueSettings, name: string) {
    this.#settings = settings;
    this.#name = name;
  }

  async enqueue(
    ticket: unknown,
    { run, tenant, priority, notBefore, cpus = usualCpus, recovered = false }: Entry,
  ): Promise<void> {
    // A hundred thousand may wait: what need not be said is left out.
    const unusual = { ...(cpus !== usualCpus && { cpus }), ...(recovered && { recovered }) };
    const envelope: Envelope = { version: 1, ticket, tenant, priority, ...unusual };
    // BullMQ counts the delay from this time: read twice, the clock could make the ticket due a moment late.
    const timestamp = Date.now();
    const delay = notBefore ? notBefore.getTime() - timestamp : 0;
    await this.#ask(async (queue) => {
      const due = delay > 0 ? { delay, timestamp } : {};
      await queue.add('ticket', envelope, { jobId: run, priority: arrival, ...due });
      // A producer that dies here leaves an arrival without a turn: it gets one with the next ticket.
      await this.#run(queue, 'hotcellArrange', 'added', noPull);
    });
  }

  async missing(runs: readonly string[]): Promise<string[]> {
    if (runs.length === 0) return [];
    return (await this.#ask((queue) => this.#run(queue, 'hotcellMissing', ...runs))) as string[];
  }

  async places(runs: readonly string[]): Promise<QueuePlace[]> {
    if (runs.length === 0) return [];
    const places = await this.#ask((queue) => this.#run(queue, 'hotcellPlaces', ...runs));
    return (places as [QueuePlace['at'], string | number][]).map(([at, value]) => {
      if (at === 'waiting' || at === 'held') return { at, before: Number(value) };
      // BullMQ keeps the due time in the upper part of the score, and a counter in its last twelve bits.
      if (at === 'delayed') return { at, due: new Date(Math.floor(Number(value) / 4096)) };
      return { at };
    });
  }

  async depth(): Promise<number> {
    return Number(await this.#ask((queue) => this.#run(queue, 'hotcellDepth')));
  }

  async remove(run: string): Promise<void> {
    await this.#ask(async (queue) => {
      const job = await queue.getJob(run);
      if (!job || (await queue.remove(run)) === 0) return;
      const { tenant } = openEnvelope(job);
      if (tenant !== undefined) await this.#run(queue, 'hotcellArrange', 'left', noPull, run, tenant);
    });
  }

  pull(service: Service): Pull {
    return new TicketPull(this.#settings, this.#name, service);
  }

  async close(): Promise<void> {
    await this.#opened?.close();
  }

  #run(queue: bull.Queue, script: Parameters<typeof runScript>[1], ...args: readonly string[]): Promise<unknown> {
    return runScript(queue, script, arrangeKeys(this.#settings, this.#name), ...args);
  }

  async #ask<T>(work: (queue: bull.Queue) => Promise<T>): Promise<T> {
    const late = () => new Error(`no answer within ${answerWithinMs} ms`);
    try {
      // BullMQ waits for its connection without a bound.
      return await within(answerWithinMs, late, () => work(this.#open()));
    } catch (cause) {
      const message = `The queue ${this.#name} does not answer (${messageOf(cause)}). Check ./hotcell status.`;
      throw new HotcellError('queue_unavailable', message, { cause });
    }
  }

  #open(): bull.Queue {
    if (this.#opened) return this.#opened;
    const { url } = this.#settings;
    const connection = { url, enableOfflineQueue: false, maxRetriesPerRequest: 1, socketTimeout: 8_000, retryStrategy };
    const streams = { events: { maxLen: 1000 } };
    this.#opened = new bull.Queue(nameOf(this.#settings, this.#name), { prefix, connection, streams });
    this.#opened.on('error', () => {
      // Each call reports its own failure.
    });
    return this.#opened;
  }
}
