import { once } from 'node:events';
import { bytesOf, type LogRow } from '@hotcell/contract/log-rows.ts';
import { say } from './voice.ts';
import { visible } from './visible.ts';

/** Prints a job's streams: byte for byte into files and pipes, without control characters on a terminal. */
export class LogPrinter {
  readonly #decoders = { stdout: new TextDecoder(), stderr: new TextDecoder() };

  async print(row: LogRow): Promise<void> {
    const out = process[row.stream];
    if (row.dropped !== undefined) {
      // The job's last line may not have ended.
      process.stderr.write('\n');
      say('warning', `${row.dropped} bytes of the log dropped here: it reached its limit.`);
      return;
    }
    const bytes = bytesOf(row);
    const data = out.isTTY ? visible(this.#decoders[row.stream].decode(bytes, { stream: true })) : bytes;
    if (!out.write(data)) await once(out, 'drain');
  }
}
