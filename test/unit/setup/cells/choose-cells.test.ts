import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { chooseCells, type KeeperGrounds, refuseKeeperWithoutRoot } from '@hotcell/setup/cells/choose-cells.ts';

/** A Debian machine with its own engine, as root. */
const server: KeeperGrounds = {
  platform: 'linux',
  root: true,
  endpoint: 'unix:///var/run/docker.sock',
  kernel: '6.12.48',
  engine: { kernel: '6.12.48', rootless: false },
  cgroups: '',
};

const others: Record<string, { change: Partial<KeeperGrounds>; why: RegExp }> = {
  'a Mac': { change: { platform: 'darwin' }, why: /needs Linux/ },
  'an engine elsewhere': { change: { endpoint: 'tcp://builder:2376' }, why: /tcp:\/\/builder:2376/ },
  'a rootless engine': { change: { engine: { kernel: '6.12.48', rootless: true } }, why: /rootless/ },
  'Docker Desktop': { change: { engine: { kernel: '6.10.14-linuxkit', rootless: false } }, why: /virtual machine/ },
  'a user without root': { change: { root: false }, why: /root/ },
  'cgroups that are read-only': { change: { cgroups: 'no memory' }, why: /^no memory$/ },
};

describe('what makes cells, if the operator does not say', () => {
  test('is the keeper on a machine of its own', () => assert.equal(chooseCells(server).way, 'keeper'));
  for (const [what, { change, why }] of Object.entries(others))
    test(`is the engine with ${what}, and the reason says so`, () => {
      const choice = chooseCells({ ...server, ...change });
      assert.equal(choice.way, 'engine');
      assert.match(choice.why, why);
    });
});

test('an operator who chooses the keeper without root is refused, and told what to do', () => {
  assert.throws(() => refuseKeeperWithoutRoot('keeper', false), { code: 'forbidden', message: /with sudo/ });
  refuseKeeperWithoutRoot('keeper', true);
  refuseKeeperWithoutRoot('engine', false);
  refuseKeeperWithoutRoot(undefined, false);
});
