import { mkdir } from 'node:fs/promises';
import { release } from 'node:os';
import { parseOurs } from '@hotcell/contract/parse.ts';
import type { EngineFacts } from '../engine/engine-facts.ts';
import { engineThatAnswers } from '../engine/info.ts';
import { textIfThere, writeWhole } from '../settings/config-file.ts';
import { CellsChoice, chooseCells } from './choose-cells.ts';
import { whyNoCgroups } from './usable-cgroups.ts';

/** An installation that no `up` has chosen for yet: of a version that had no choice, or not started. */
const unchosen: CellsChoice = { way: 'engine', why: 'no `./hotcell up` has looked yet whether a keeper can work here' };

/**
 * Kept by `up` for every other command: they may run as another user, and must find the same services. HOTCELL_CELLS
 * comes before it.
 */
export async function keptChoice(path: string): Promise<CellsChoice> {
  const text = await textIfThere(path);
  return text === undefined ? unchosen : parseOurs(CellsChoice, text, path);
}

export async function chooseCellsHere(home: string, path: string, tools: EngineFacts): Promise<void> {
  const { platform, root, endpoint } = tools;
  const grounds = { platform, root, endpoint, kernel: release(), engine: await engineThatAnswers() };
  const choice = chooseCells({ ...grounds, cgroups: await whyNoCgroups() });
  await mkdir(home, { recursive: true, mode: 0o755 });
  await writeWhole(path, `${JSON.stringify(choice)}\n`, 0o644);
}
