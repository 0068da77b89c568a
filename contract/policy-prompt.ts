import { formatBytes } from '@hotcell/contract/format.ts';
import type { Policy } from '@hotcell/contract/policy.ts';
import type { ImageReport } from '@hotcell/contract/image-report.ts';

type Told = Pick<Policy, 'languages' | 'argv' | 'limits' | 'inputs' | 'env' | 'images'>;

/** More names than this help no model. */
const mostPackages = 80;

/** A paragraph for a model's system prompt: what its code finds in a cell under this policy, and what it does not. */
export function policyPrompt(policy: Told, image: Pick<ImageReport, 'packages'> | undefined): string {
  return [
    'Your code runs in a sealed cell. Every run gets a fresh one: no variable, file or process of an earlier run is in it.',
    languages(policy),
    'There is no network of any kind: do not download, call APIs or install packages. Nothing asks you anything: stdin is empty.',
    packages(policy, image),
    folders(policy),
    limits(policy),
    'You see stdout and stderr, so print what you want to know. A run that fails says why; change the code instead of trying it again.',
  ].join(' ');
}

function languages({ languages: table, argv }: Told): string {
  const names = table.map(({ name }) => name);
  const known = names.length > 0 ? `Languages: ${names.join(', ')}.` : 'No language is available.';
  return argv ? `${known} A program of the image can also be run with its arguments.` : known;
}

const installers = { pypi: 'Python packages', npm: 'Node packages' } as const;

function packages({ images }: Told, image: Pick<ImageReport, 'packages'> | undefined): string {
  const installed = Object.entries(installers).flatMap(([kind, title]) => {
    const names = (image?.packages ?? []).filter((one) => one.kind === kind).map(({ name }) => name);
    const more = names.length > mostPackages ? ' and others' : '';
    return names.length > 0 ? [`${title}: ${names.slice(0, mostPackages).join(', ')}${more}.`] : [];
  });
  const others = images.slice(1).map(({ name }) => name);
  return [
    ...(installed.length > 0 ? installed : ['Use the standard library: other packages may be missing.']),
    ...(others.length > 0 ? [`Other images can be asked for: ${others.join(', ')}.`] : []),
  ].join(' ');
}

function folders({ inputs, limits: { outputBytes, outputFiles, scratchBytes } }: Told): string {
  const given = inputs.count > 0 ? 'Inputs are read-only in /inputs/<name>. ' : '';
  const kept =
    outputFiles.default > 0
      ? `Only files in /outputs are kept, at most ${outputFiles.default} with ${formatBytes(outputBytes.default)} together. `
      : 'No file is kept. ';
  return `${given}${kept}The current folder /work, and /tmp, hold ${formatBytes(scratchBytes.default)} each and are gone afterwards.`;
}

function limits({ limits: { timeoutSeconds, memoryBytes, cpus, pids } }: Told): string {
  const time =
    timeoutSeconds.max > timeoutSeconds.default
      ? `${timeoutSeconds.default} s (${timeoutSeconds.max} s if asked for)`
      : `${timeoutSeconds.default} s`;
  const processors = cpus.default === 1 ? '1 CPU' : `${cpus.default} CPUs`;
  return `A run may take ${time}, ${formatBytes(memoryBytes.default)} of memory, ${processors} and ${pids.default} processes and threads. It is not root, and has no GPU.`;
}
