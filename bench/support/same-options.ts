import { randomInt } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { cellCpus } from '@hotcell/contract/cell-bounds.ts';
import { disksIn } from '@hotcell/executor-worker/cell/disk-bounds.ts';
import { InitFile, makeFolder, noInputs } from '@hotcell/executor-worker/cell/host-files.ts';
import { containerOptions } from '@hotcell/executor-worker/cell/options.ts';
import type { CellPlan } from '@hotcell/executor-worker/cell/cell-plan.ts';
import { Engine } from '@hotcell/outside/engine/engine.ts';
import { type Bed, engineSocket } from '../../test/support/bed.ts';
import { type TestCells, testDisk } from '../../test/support/cells.ts';
import { plainContainer } from './cells.ts';

const profiles = join(import.meta.dirname, '../../images/seccomp');

/**
 * Runs a program in a container made by engine calls alone, with a cell's options, except that the network is switched off
 * in the usual way, by its mode. Resolves to the program's output once the container is gone.
 */
export async function sameOptions(
  bed: Bed,
  { stateDir }: TestCells,
  plan: CellPlan,
): Promise<(command: readonly string[]) => Promise<string>> {
  const machine = process.arch === 'x64' ? 'x86_64' : 'aarch64';
  const text = await readFile(join(profiles, `${plan.runtime}-${machine}.json`), 'utf8');
  const seccomp = JSON.stringify(JSON.parse(text));
  // The same mounts as a cell, made once.
  const init = await new InitFile(stateDir).program();
  const files = [
    ...makeFolder(stateDir, { id: 'bench', uid: 50_000, cpus: cellCpus(plan.limits), init }),
    noInputs(stateDir, 'bench'),
  ];
  const bounded = await new Engine(engineSocket).boundsDisks();
  const disks = { disks: bounded ? await disksIn('/sys/block') : [], bytesPerSecond: testDisk };
  return async (command) => {
    const site = { id: 'bench', uid: randomInt(50_000, 60_000), installation: bed.installation.id, worker: 'bench' };
    const more = { createdAt: new Date(), imageId: plan.image.digest, imageVariables: [], files, disks, seccomp };
    const { NetworkDisabled: _, ...options } = containerOptions(plan, { ...site, ...more });
    await using container = await plainContainer(bed, plan.runtime, command, { ...options, Entrypoint: [...command] });
    let said = '';
    await container.start();
    for await (const { bytes } of container.attached.output) said += bytes.toString();
    const code = await container.ended();
    if (code !== 0) throw new Error(`the container ended with exit code ${String(code)}: ${said}`);
    return said;
  };
}
