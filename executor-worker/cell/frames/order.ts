import { frameLimits as limits } from '@hotcell/contract/frames.ts';
import type { CellFrame } from './decode.ts';
import { broken } from './reader.ts';

type Phase = 'new' | 'ready' | 'sealing' | 'sealed' | 'started' | 'between' | 'tail' | 'outputs' | 'output' | 'over';

/** Which frame may follow which. A stream of well-formed frames can still be nonsense, or forged. */
export class FrameOrder {
  #phase: Phase = 'new';
  #records = 0;
  #block = 0;
  #limited = false;
  #outputLeft = 0;
  #refused = 0;
  #leftNamed = false;

  /** Whether the last frame has come. */
  get over(): boolean {
    return this.#phase === 'over';
  }

  check(frame: CellFrame): void {
    const phase = this.#next(frame);
    if (!phase) throw broken(`${frame.type} cannot follow here (${this.#phase})`);
    this.#phase = phase;
  }

  #next(frame: CellFrame): Phase | undefined {
    switch (frame.type) {
      case 'ready':
        return this.#in('new') ? 'ready' : undefined;
      case 'posture':
        if (++this.#records > limits.postureRecords) throw broken('the posture has too many records');
        return this.#in('ready', 'sealing', 'sealed') ? 'sealing' : undefined;
      case 'postureEnd':
        if (frame.records !== this.#records)
          throw broken(`the posture says ${frame.records} records, ${this.#records} came`);
        this.#records = 0;
        return this.#in('sealing') ? 'sealed' : undefined;
      case 'blockStarted':
        return this.#in('sealed', 'between') && !this.#leftNamed && this.#ofBlock(frame.index) ? 'started' : undefined;
      case 'log':
        if (frame.tail) return this.#in('tail') && frame.index < this.#block ? 'tail' : undefined;
        return this.#in('started') && !this.#limited && this.#ofBlock(frame.index) ? 'started' : undefined;
      case 'logLimit': {
        const first = !this.#limited;
        this.#limited = true;
        return this.#in('started') && first ? 'started' : undefined;
      }
      case 'logTail':
        return this.#in('between') && this.#limited ? 'tail' : undefined;
      case 'blockEnded': {
        const from: Phase[] = frame.end.how === 'notStarted' ? ['sealed', 'between'] : ['started'];
        if (!this.#in(...from) || this.#leftNamed || !this.#ofBlock(frame.index)) return undefined;
        this.#block++;
        return 'between';
      }
      case 'workLeft': {
        const first = !this.#leftNamed;
        this.#leftNamed = true;
        return this.#in('between') && first ? 'between' : undefined;
      }
      case 'outputEntry':
        this.#outputLeft = frame.size;
        return this.#collecting ? 'output' : undefined;
      case 'outputData':
        this.#outputLeft -= frame.bytes.length;
        if (this.#outputLeft < 0) throw broken('an output has more bytes than were announced');
        return this.#in('output') ? 'output' : undefined;
      case 'outputEnd':
        if (frame.ok && this.#outputLeft !== 0) throw broken('an output has fewer bytes than were announced');
        return this.#in('output') ? 'outputs' : undefined;
      case 'outputRefused':
        if (++this.#refused > limits.refusals) throw broken('more refused outputs are listed than may be');
        return this.#collecting ? 'outputs' : undefined;
      case 'end':
        if (frame.end.blocks !== this.#block) throw broken(`END says ${frame.end.blocks} blocks, ${this.#block} came`);
        return this.#collecting ? 'over' : undefined;
      case 'error':
        return 'over';
    }
  }

  /** Past the log's limit the tail comes first, even if it is empty. */
  get #collecting(): boolean {
    return this.#in('tail', 'outputs') || (this.#in('between') && !this.#limited);
  }

  #in(...phases: Phase[]): boolean {
    return phases.includes(this.#phase);
  }

  #ofBlock(index: number): boolean {
    return index === this.#block;
  }
}
