import { type Check, fail, ok, warn } from './check.ts';
import { commandForView } from '../services/flagged-view.ts';
import type { Facts } from './doctor-facts.ts';

const start = './hotcell up';

export function judgeImages({ imagesMissing, engine }: Facts): Check[] {
  if (!engine) return [];
  if (imagesMissing.length === 0) return [ok('images', 'all built')];
  return [warn('images', `not built yet: ${imagesMissing.join(', ')}`, `\`${start}\` builds them`)];
}

export function judgeServices({ installation }: Facts): Check {
  if (!installation) return warn('services', 'Hotcell is not set up here yet', `\`${start}\``);
  const { id, running, unwell, expected } = installation;
  if (unwell.length > 0) {
    const logs = unwell.map((name) => `\`docker logs hotcell-${id}-${name}-1\``).join(', ');
    return fail('services', `unhealthy: ${unwell.join(', ')}`, `see ${logs}, then run \`${start}\``);
  }
  const missing = expected.filter((name) => !running.includes(name));
  if (missing.length > 0) return warn('services', `not running: ${missing.join(', ')}`, `\`${start}\``);
  return ok('services', `${running.join(', ')} are running`);
}

/** Inputs are read-only everywhere; only root can add these flags. */
export function judgeView({ flaggedView, tools }: Facts): Check[] {
  if (!flaggedView) return [];
  if (flaggedView.there) return [ok('inputs', 'mounted into cells with nosuid, nodev and noexec')];
  const message = 'mounted into cells read-only, but without nosuid, nodev and noexec';
  if (tools.platform !== 'linux')
    return [
      warn('inputs', `${message}: such a mount cannot be made in the engine's virtual machine`, 'run Hotcell on Linux'),
    ];
  return [warn('inputs', message, `\`sudo ${start}\`, or \`${commandForView(flaggedView.path)}\``)];
}

/** Whether store and queue passed their probes. */
export function judgeProbes({ store, queue, sharedKeys }: Facts): Check[] {
  const checks: Check[] = [];
  for (const [name, said] of [
    ['store', store],
    ['queue', queue],
  ] as const) {
    if (said === undefined) checks.push(warn(name, 'is not running, so it could not be checked', `\`${start}\``));
    else if (said !== '') checks.push(fail(name, said, 'fix the setting it names, or use another store or queue'));
    else
      checks.push(
        ok(name, name === 'store' ? 'conditional writes, versions and Object Lock work' : 'noeviction and AOF are on'),
      );
  }
  if (sharedKeys.length > 0) {
    const message = `${sharedKeys.join(', ')} use the operator's keys to the external store, so the store does not limit them to their own rights`;
    checks.push(
      warn(
        'store accounts',
        message,
        'create an account for each and put its keys into `secrets/<process>-s3-*-key` in the home',
      ),
    );
  }
  return checks;
}
