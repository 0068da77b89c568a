import type { Session, Step } from '@hotcell/client/index.ts';
import { LogPrinter } from '../log-printer.ts';
import { visible } from '../visible.ts';

/** What a step wrote, as it was written, and then what it showed: as text, or named where it is none. */
export async function printStep(session: Session, step: Step): Promise<void> {
  const printer = new LogPrinter();
  if (step.usage && step.usage.logBytes > 0)
    for await (const row of session.stepLog(step.index)) await printer.print(row);
  for (const line of shownOf(step)) process.stdout.write(`${line}\n`);
}

/** One line or more for each thing: its text, if it has one. */
function shownOf({ run, index, outputs }: Step): string[] {
  const things = Map.groupBy(outputs.entries(), ([at, { display }]) => display ?? -1 - at);
  return [...things.values()].map((forms) => {
    const text = forms.find(([, { type }]) => type === 'text/plain')?.[1].text;
    const others = forms.filter(([, { type }]) => type !== 'text/plain' && type !== 'text/html');
    const named = others.map(
      ([at, { type, size }]) => `[${type ?? 'bytes'}, ${size} bytes: /v1/runs/${run}/steps/${index}/outputs/${at}]`,
    );
    return [...(text === undefined ? [] : [visible(text)]), ...named].join('\n');
  });
}
