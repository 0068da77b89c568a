import { once } from 'node:events';
import { bytesOf, type LogRow } from '@hotcell/contract/log-rows.ts';
import { visible } from './visible.ts';

/** The job's streams on ours: byte for byte into files and pipes, made harmless where a person looks at a terminal. */
export class LogPrinter {
  readonly #decoders = { stdout: new TextDecoder(), stderr: new TextDecoder() };

  async print(row: LogRow): Promise<void> {
    const out = process[row.stream];
    if (row.dropped !== undefined) {
      process.stderr.write(`\n[${row.dropped} bytes are not here: the log limit was reached]\n`);
      return;
    }
    const bytes = bytesOf(row);
    const data = out.isTTY ? visible(this.#decoders[row.stream].decode(bytes, { stream: true })) : bytes;
    if (!out.write(data)) await once(out, 'drain');
  }
}
