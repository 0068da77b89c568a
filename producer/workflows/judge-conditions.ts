import { HotcellError } from '@hotcell/contract/errors.ts';
import { fieldAt } from '@hotcell/contract/json-field.ts';
import { taskName } from '@hotcell/contract/workflow-decide.ts';
import { type Condition, workflowLimits } from '@hotcell/contract/workflow.ts';
import { checkedBytes } from '@hotcell/contract/checked-bytes.ts';
import { whyErased } from '@hotcell/record/erasures.ts';
import { openContent } from '@hotcell/record/put-content.ts';
import type { OutputFile } from '@hotcell/contract/result.ts';
import type { Producer } from '../producer.ts';
import type { KnownWorkflow } from './known-workflow.ts';

type OnOutput = Extract<Condition, { output: string }>;
type Verdict = { holds: boolean; because: string };

/** Reads the outputs that a step's conditions name. What can't be read, or isn't JSON, makes them not hold. */
export async function judgeConditions(producer: Producer, known: KnownWorkflow, step: string): Promise<void> {
  const conditions = (known.graph[step]?.when ?? []).filter((one): one is OnOutput => 'output' in one);
  for (const condition of conditions) {
    const verdict = await judge(producer, known, condition);
    known.conditions.set(step, verdict);
    if (!verdict.holds) return;
  }
}

async function judge(producer: Producer, known: KnownWorkflow, condition: OnOutput): Promise<Verdict> {
  const { step, output, field, is } = condition;
  const where = `${output} of ${step}`;
  const not = (because: string): Verdict => ({ holds: false, because });
  if (known.graph[step]?.over) return not(`${step} fans out, so its outputs can't be a condition.`);
  const run = known.tasks.get(taskName(step, undefined))?.run;
  const result = run ? await producer.news.resultOf(known.tenant, run) : undefined;
  const file = result?.outputs.files.find(({ path }) => path === output);
  if (!result || !file) return not(`There is no output ${where}.`);
  if (file.size > workflowLimits.conditionBytes)
    return not(`${where} has ${file.size} bytes, and a condition reads at most ${workflowLimits.conditionBytes}.`);
  const erased = await whyErased(producer.store, known.tenant, result.run);
  if (erased !== undefined) return not(erased);
  const found = fieldAt(parsed(await bytesOf(producer, known.tenant, file)), field);
  const what = field === undefined ? where : `${field} in ${where}`;
  if (found === is) return { holds: true, because: '' };
  return not(`${what} is ${shown(found)}, and the condition wants ${JSON.stringify(is)}.`);
}

const readWithinMs = 30_000;

async function bytesOf({ store }: Producer, tenant: string, { path, sha256 }: OutputFile): Promise<Uint8Array> {
  const found = await openContent(store, tenant, sha256, AbortSignal.timeout(readWithinMs));
  const damaged = (what: string) => new HotcellError('record_damaged', `The bytes of ${path} (${sha256}) ${what}.`);
  if (!found) throw damaged('are missing in the store');
  const checked = checkedBytes(found.body, sha256, (got) => damaged(`are ${got} in the store`));
  return Buffer.concat(await Array.fromAsync(checked));
}

function parsed(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(Buffer.from(bytes).toString('utf8'));
  } catch {
    // A job wrote it: it may be anything.
    return undefined;
  }
}

const longest = 80;

function shown(value: unknown): string {
  if (value === undefined) return 'not there';
  const text = JSON.stringify(value);
  return text.length > longest ? `${text.slice(0, longest)}…` : text;
}
