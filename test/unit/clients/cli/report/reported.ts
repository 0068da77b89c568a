import type { ReportedRun, ShownOutput } from '@hotcell/cli/report/reported-run.ts';
import { readOutput } from '@hotcell/cli/report/shown-output.ts';
import { type Digest, sha256 } from '@hotcell/contract/digest.ts';
import { forEachLimit } from '@hotcell/contract/limits.ts';
import { RunId } from '@hotcell/contract/names.ts';

const digest: Digest = sha256('x');
const at = '2026-11-19T10:00:00.000Z';

/** A run with the same word in every place where a job or a stranger has the say. */
export function reported(word: string, bytes = Buffer.from(word.replaceAll('\0', '')), language = 'ruby'): ReportedRun {
  const files = [
    { path: `${word}.csv`, size: 3, sha256: digest },
    { path: `${word}.txt`, size: 3, sha256: digest },
    { path: `${word}.svg`, size: 3, sha256: digest },
  ];
  const [csv, txt, svg] = files.map(({ path }) => path) as [string, string, string];
  const run = RunId.parse('01a1f563-2721-727f-8f82-3a99eb866310');
  const requester = { key: 'fb42611de68b5c16', role: 'submitter' } as const;
  const shown: [string, ShownOutput][] = [
    [csv, { kind: 'table', rows: [[word], [word]], more: true }],
    [txt, { kind: 'text', text: word, more: false }],
    [svg, readOutput(svg, bytes)],
  ];
  return {
    result: {
      version: 1,
      run,
      tenant: 'default',
      status: 'finished',
      outcome: 'failed',
      reason: word,
      exitCode: 1,
      blocks: [
        {
          index: 0,
          language: 'python',
          file: word,
          exitCode: 1,
          signal: null,
          outcome: 'failed',
          startedAt: at,
          finishedAt: at,
        },
      ],
      spec: digest,
      policy: { name: 'sealed', digest },
      image: { ref: word, digest },
      runtime: 'runc',
      inputs: [{ name: 'sales', snapshot: digest }],
      labels: { [word]: word },
      requester,
      limits: forEachLimit(() => 10),
      usage: { wallMs: 1, cpuMs: 1, peakMemoryBytes: 1, logBytes: 1, outputBytes: 1, outputFiles: 1 },
      outputs: { snapshot: digest, files, refused: [{ path: word, reason: word }] },
      logs: { sha256: digest, bytes: 3, truncated: false },
      posture: { inside: {}, outside: {}, worth: word },
      attempts: [
        { attempt: 1, worker: 'a', startedAt: at, finishedAt: at, error: { code: 'x', message: word } },
        { attempt: 2, worker: 'a', startedAt: at, finishedAt: at, outcome: 'failed' },
      ],
      timings: {
        acceptedAt: at,
        finishedAt: at,
        queuedMs: 1,
        stagedMs: 2,
        sealedMs: 3,
        ranMs: 4,
        committedMs: 5,
        warm: false,
      },
      warnings: [word],
      errors: [{ path: 'limits.cpus', message: word }],
    },
    spec: {
      version: 1,
      run,
      tenant: 'default',
      requester,
      acceptedAt: at,
      blocks: [{ language, code: word, file: 'a.py' }, { argv: [word] }],
      files: [
        { path: word, text: word },
        { path: word, base64: '/w==' },
      ],
      params: { [word]: word },
      policy: { name: 'sealed', digest },
      image: { ref: word, digest },
      runtime: 'runc',
      inputs: [{ name: 'sales', snapshot: digest, locations: digest, source: word }],
      limits: {},
      env: { [word]: word },
      labels: {},
      priority: 5,
      publish: 'daily',
      warnings: [word],
    },
    log: [
      { seq: 0, at, block: 0, stream: 'stdout', text: `${word}\n` },
      { seq: 1, at, block: 0, stream: 'stderr', text: word },
    ],
    outputs: new Map(shown),
    madeAt: new Date(at),
    version: '0.1.0',
  };
}
