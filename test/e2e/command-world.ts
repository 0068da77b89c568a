import assert from 'node:assert/strict';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Bed, openBed } from '../support/bed.ts';
import type { Child } from '../support/child.ts';
import { type House, openHouse } from '../support/house.ts';
import { type RunningProducer, settle, startProducer } from '../support/producer.ts';
import { spawnWorker } from '../support/real-worker.ts';
import { cliWith } from './cli.ts';

interface Parts {
  bed: Bed;
  house: House;
  producer: RunningProducer;
  worker: Child;
  /** Where the files are that a person at the command line has. */
  folder: string;
}

/** From the command line to real cells and back, with every part as it runs in production. */
export class CommandWorld implements AsyncDisposable {
  readonly cli: ReturnType<typeof cliWith>;
  readonly #parts: Parts;

  private constructor(parts: Parts, key: string) {
    this.#parts = parts;
    this.cli = cliWith({ HOTCELL_HOME: parts.folder, HOTCELL_URL: parts.producer.url, HOTCELL_API_KEY: key });
  }

  static async open(): Promise<CommandWorld> {
    const bed = await openBed();
    const house = await openHouse(bed);
    const producer = await startProducer(bed, house);
    const worker = await spawnWorker(bed, house, 'one');
    const folder = await bed.folder('commands');
    return new CommandWorld({ bed, house, producer, worker, folder }, await producer.key());
  }

  get house(): House {
    return this.#parts.house;
  }
  get producer(): RunningProducer {
    return this.#parts.producer;
  }
  get folder(): string {
    return this.#parts.folder;
  }

  readonly file = async (name: string, content: string): Promise<string> => {
    const path = join(this.folder, name);
    await mkdir(join(path, '..'), { recursive: true });
    await writeFile(path, content);
    return path;
  };

  readonly submitted = async (code: string, ...more: string[]): Promise<string> => {
    const { code: exit, stdout, stderr } = await this.cli.run(['submit', '-e', code, ...more]);
    assert.equal(exit, 0, stderr);
    return stdout.trim();
  };

  async [Symbol.asyncDispose](): Promise<void> {
    const { bed, house, producer, worker } = this.#parts;
    await settle(house, producer);
    worker.kill('SIGTERM');
    await worker.ended;
    await house[Symbol.asyncDispose]();
    await bed[Symbol.asyncDispose]();
  }
}
