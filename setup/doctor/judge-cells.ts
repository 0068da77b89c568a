import type { KeeperAnswer } from '@hotcell/contract/keeper-protocol.ts';
import { type Check, fail, ok, warn } from './check.ts';
import type { Facts } from './doctor-facts.ts';
import { runscFixes } from './judge-engine.ts';

type About = KeeperAnswer<'about'>;

/** What makes the cells of this installation, and why; and what that lacks on this host. */
export function judgeCells({ cells }: Facts): Check[] {
  if (!cells) return [];
  const { why } = cells;
  if (cells.way === 'engine') return [ok('cells', `the engine makes them, because ${why}`)];
  if (typeof cells.keeper === 'string')
    return [fail('cells', `the keeper should make them: ${cells.keeper}`, '`./hotcell up`')];
  const { runtimes } = cells.keeper;
  const named = Object.entries(runtimes).map(([policy, program]) => `${program} for policies that say ${policy}`);
  return [
    ok('cells', `the keeper makes them, because ${why}: ${named.join(', ')}`),
    ...runtimeChecks(cells.keeper),
    ...kernelChecks(cells.keeper),
  ];
}

function* runtimeChecks({ runtimes }: About): Generator<Check> {
  if (runtimes.runc === undefined)
    yield fail('cells', 'the keeper has neither crun nor runc', '`./hotcell image build`, then `./hotcell up`');
  if (runtimes.gvisor === undefined) {
    const message = "the keeper has no runsc: runs under a policy with the runtime 'gvisor' will wait";
    yield warn('cells', message, '`./hotcell image build`, then `./hotcell up`');
  } else yield runscFixes(runtimes.gvisor);
}

function* kernelChecks({ cgroups, userNamespaces, boundsDisks }: About): Generator<Check> {
  if (!userNamespaces) {
    const message = 'cells have no user namespace, so their init is root of this host, with four capabilities';
    yield warn('user namespaces', message, '`sysctl -w user.max_user_namespaces=10000`, then `./hotcell up`');
  }
  if (cgroups === 'mixed') {
    const message = 'this host has controllers in both versions of cgroups, so the keeper uses runc, which is slower';
    yield warn('cgroups', message, '`sudo ./hotcell up` mounts them as version 1, or boot with version 2 alone');
  }
  if (!boundsDisks) {
    const message = 'the kernel does not bound how fast a cell uses the disks here';
    yield warn('disks', message, 'enable the cgroup controller io (version 2) or blkio (version 1)');
  }
}
