import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { command, type Ended } from '@hotcell/setup/command.ts';
import { checkout, findInstallation } from '@hotcell/setup/settings/installation.ts';
import { freePortBase } from './free-port-base.ts';

/** A whole installation of a test's own, made and removed on the command line as a person would. */
export interface OwnInstallation extends AsyncDisposable {
  id: string;
  home: string;
  portBase: number;
  env: Readonly<Record<string, string>>;
  hotcell: (...words: string[]) => Promise<Ended>;
}

export async function ownInstallation(): Promise<OwnInstallation> {
  const home = await mkdtemp(join(tmpdir(), 'hotcell-own-'));
  for (let tries = 1; ; tries++) {
    const portBase = await freePortBase();
    const env = { HOTCELL_HOME: home, HOTCELL_PORT_BASE: String(portBase) };
    const hotcell = async (...words: string[]) => await command([join(checkout, 'hotcell'), ...words], { env });
    const { code, stderr } = await hotcell('up', '--yes');
    // Another process may take the port after the check: then `up` says so, and another port is chosen.
    assert.ok(code === 0 || (tries < 5 && /is taken/.test(stderr)), stderr);
    if (code !== 0) continue;
    const id = (await findInstallation(env))?.id ?? '';
    return {
      id,
      home,
      portBase,
      env,
      hotcell,
      async [Symbol.asyncDispose]() {
        await hotcell('down', '--purge', '--yes', '--quiet');
        await rm(home, { recursive: true, force: true });
      },
    };
  }
}
