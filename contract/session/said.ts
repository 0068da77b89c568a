import { z } from 'zod';

/** What the interpreter of a session says of its step: the job's word, parsed as such, and bounded in every part. */
const saidKinds = { done: 0, display: 1, data: 2 } as const;

const mostDisplays = 200;
const mostForms = 16;
export const mostOutputs = 64;
/** What a form costs beside its bytes: an empty one is not free. */
const formBytes = 256;
const mostTextBytes = 32 * 1024;

const SaidEnding = z.object({
  status: z.enum(['ok', 'error', 'interrupted', 'exited']),
  exitCode: z.number().int().min(0).max(255),
  name: z.string().max(200).optional(),
  message: z.string().max(2000).optional(),
});
const Announced = z.object({
  role: z.enum(['result', 'display']),
  forms: z
    .array(z.object({ type: z.string().regex(/^[\w.+-]{1,60}\/[\w.+-]{1,60}$/), size: z.number().int().min(0) }))
    .max(mostForms),
});

export interface Said {
  ending: {
    status: z.infer<typeof SaidEnding>['status'];
    exitCode: number;
    error: { name: string; message: string } | undefined;
  };
}

export interface DisplayedForm {
  kind: 'result' | 'display';
  display: number;
  type: string;
  bytes: Buffer;
}

/** Puts together what came of one step, up to a number of bytes. What is not understood is left out, and counted. */
export class SaidOfStep {
  ending: Said['ending'] | undefined;
  readonly forms: DisplayedForm[] = [];
  /** Displays that are not kept. */
  leftOut = 0;
  #displays = 0;
  #open:
    | { kind: 'result' | 'display'; forms: { type: string; size: number }[]; whole: Buffer; filled: number }
    | undefined;
  #room: number;

  constructor(mostBytes: number) {
    this.#room = mostBytes;
  }

  take(kind: number, bytes: Buffer): void {
    if (kind === saidKinds.done) this.#done(bytes);
    else if (kind === saidKinds.display) this.#begin(bytes);
    else if (kind === saidKinds.data) this.#data(bytes);
  }

  #done(bytes: Buffer): void {
    const said = SaidEnding.safeParse(jsonOf(bytes));
    // An interpreter that says anything else about its end has been tampered with: no success is believed.
    const { status, exitCode, name, message } = said.success
      ? said.data
      : { status: 'error' as const, exitCode: 1, name: undefined, message: undefined };
    const error = name === undefined ? undefined : { name, message: message ?? '' };
    this.ending = { status, exitCode, error };
  }

  #begin(bytes: Buffer): void {
    if (this.#open) this.leftOut++;
    this.#open = undefined;
    const said = Announced.safeParse(jsonOf(bytes));
    const { role, forms } = said.success ? said.data : { role: 'display' as const, forms: [] };
    const size = forms.reduce((sum, form) => sum + form.size, 0);
    const cost = size + forms.length * formBytes;
    const tooMany = this.#displays >= mostDisplays || this.forms.length + forms.length > mostOutputs;
    if (!said.success || cost > this.#room || tooMany) {
      this.leftOut++;
      return;
    }
    this.#room -= cost;
    this.#open = { kind: role, forms, whole: Buffer.alloc(size), filled: 0 };
    this.#close();
  }

  #data(bytes: Buffer): void {
    const open = this.#open;
    if (!open) return;
    if (bytes.length > open.whole.length - open.filled) {
      this.#open = undefined;
      this.leftOut++;
      return;
    }
    // A copy: the chunk is a view of a buffer that the cell's reader reuses. However many chunks come, what is held is
    // what was announced.
    open.filled += bytes.copy(open.whole, open.filled);
    this.#close();
  }

  /** As soon as all bytes of all forms are there. */
  #close(): void {
    const open = this.#open;
    if (!open || open.filled < open.whole.length) return;
    this.#open = undefined;
    const display = this.#displays++;
    let at = 0;
    for (const { type, size: length } of open.forms) {
      this.forms.push({ kind: open.kind, display, type, bytes: open.whole.subarray(at, at + length) });
      at += length;
    }
  }
}

function jsonOf(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString('utf8'));
  } catch {
    return undefined;
  }
}

const textTypes = /^(?:text\/|application\/(?:json|javascript)|image\/svg\+xml)/;

/** A form's bytes as text, where they are little text: then they stand in the step's result. */
export function smallText(type: string, bytes: Buffer): string | undefined {
  if (bytes.length > mostTextBytes || !textTypes.test(type)) return undefined;
  const text = bytes.toString('utf8');
  return Buffer.from(text).equals(bytes) ? text : undefined;
}
