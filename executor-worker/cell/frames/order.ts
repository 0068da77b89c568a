import { frameLimits as limits } from '@hotcell/contract/frames.ts';
import type { CellFrame } from './decode.ts';
import { broken } from './reader.ts';

type Phase =
  | 'new'
  | 'ready'
  | 'sealing'
  | 'sealed'
  | 'started'
  | 'between'
  | 'tail'
  | 'outputs'
  | 'output'
  /** All that is kept of /work has come. */
  | 'frozen'
  | 'over'
  /** A step ended; what is collected of it may follow. */
  | 'ended'
  | 'collecting';

/** Which frame may follow which. A stream of well-formed frames can still be nonsense, or forged. */
export class FrameOrder {
  #phase: Phase = 'new';
  #records = 0;
  #block = 0;
  #limited = false;
  #outputLeft = 0;
  #refused = 0;
  #leftNamed = false;
  #session = false;
  #preloaded = false;
  #workspace = false;

  /** Whether the last frame has come. */
  get over(): boolean {
    return this.#phase === 'over';
  }

  /** From now on blocks are steps, and more may come behind the last one. */
  beginSession(): void {
    this.#session = true;
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
      case 'preloaded': {
        const first = !this.#preloaded;
        this.#preloaded = true;
        return this.#in('sealed') && first ? 'sealed' : undefined;
      }
      case 'blockStarted':
        return this.#in('sealed', 'between') && !this.#leftNamed && this.#ofBlock(frame.index) ? 'started' : undefined;
      case 'log':
        if (frame.tail) return this.#in('tail') && frame.index < this.#block ? 'tail' : undefined;
        if (this.#isLastWord(frame.index)) return 'between';
        return this.#in('started') && !this.#limited && this.#ofBlock(frame.index) ? 'started' : undefined;
      case 'logLimit': {
        const first = !this.#limited;
        this.#limited = true;
        if (first && this.#session && this.#in('between')) return 'between';
        return this.#in('started') && first ? 'started' : undefined;
      }
      case 'logTail':
        return this.#in('between') && this.#limited ? 'tail' : undefined;
      case 'said':
        return this.#session && this.#in('started') && this.#ofBlock(frame.index) ? 'started' : undefined;
      case 'blockEnded': {
        const from: Phase[] = frame.end.how === 'notStarted' ? ['sealed', 'between'] : ['started'];
        if (!this.#in(...from) || this.#leftNamed || !this.#ofBlock(frame.index)) return undefined;
        this.#block++;
        return this.#session ? 'ended' : 'between';
      }
      case 'stepOver':
        this.#refused = 0;
        return this.#in('ended') && frame.index === this.#block - 1 ? 'between' : undefined;
      case 'workLeft': {
        const first = !this.#leftNamed;
        this.#leftNamed = true;
        return (this.#in('between') || this.#isUnused) && first ? 'between' : undefined;
      }
      case 'outputEntry':
        this.#outputLeft = frame.size;
        if (this.#in('ended')) return 'collecting';
        return this.#collecting ? 'output' : undefined;
      case 'outputData':
        this.#outputLeft -= frame.bytes.length;
        if (this.#outputLeft < 0) throw broken('an output has more bytes than were announced');
        return this.#in('output', 'collecting') ? this.#phase : undefined;
      case 'outputEnd':
        if (frame.ok && this.#outputLeft !== 0) throw broken('an output has fewer bytes than were announced');
        if (this.#in('collecting')) return 'ended';
        return this.#in('output') ? 'outputs' : undefined;
      case 'outputRefused':
        if (++this.#refused > limits.refusals) throw broken('more refused outputs are listed than may be');
        if (this.#in('ended')) return 'ended';
        return this.#collecting ? 'outputs' : undefined;
      case 'workspaceBegins': {
        const first = !this.#workspace;
        this.#workspace = true;
        this.#refused = 0;
        return this.#collecting && first ? 'outputs' : undefined;
      }
      case 'workspaceEnd':
        return this.#in('outputs') && this.#workspace ? 'frozen' : undefined;
      case 'end':
        if (frame.end.blocks !== this.#block) throw broken(`END says ${frame.end.blocks} blocks, ${this.#block} came`);
        return (this.#workspace ? this.#in('frozen') : this.#collecting) ? 'over' : undefined;
      case 'error':
        return 'over';
    }
  }

  /** Past the log's limit the tail comes first, even if it is empty. */
  get #collecting(): boolean {
    return this.#in('tail', 'outputs') || ((this.#in('between') || this.#isUnused) && !this.#limited);
  }

  /** A session may end before its first step. */
  get #isUnused(): boolean {
    return this.#session && this.#in('sealed');
  }

  /** Of a session's interpreter, at its end. */
  #isLastWord(index: number): boolean {
    return this.#session && this.#in('between') && !this.#limited && index === this.#block - 1;
  }

  #in(...phases: Phase[]): boolean {
    return phases.includes(this.#phase);
  }

  #ofBlock(index: number): boolean {
    return index === this.#block;
  }
}
