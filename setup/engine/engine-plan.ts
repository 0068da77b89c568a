import { HotcellError } from '@hotcell/contract/errors.ts';
import { registersRunsc } from './daemon-json.ts';
import type { EngineFacts } from './engine-facts.ts';

export type EngineStep =
  | { kind: 'repair-packages' }
  | { kind: 'add-sources' }
  | { kind: 'install'; packages: string[] }
  | { kind: 'register-runsc' }
  | { kind: 'start' };

/** From which suite each package comes: bookworm's own engine is too old, its own gVisor too. */
const suites: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  bookworm: {
    'docker.io': 'trixie',
    'docker-cli': 'trixie',
    'docker-compose': 'trixie',
    'docker-buildx': 'trixie',
    runsc: 'bookworm-backports',
    mmdebstrap: 'bookworm',
  },
  trixie: {
    'docker.io': 'trixie',
    'docker-cli': 'trixie',
    'docker-compose': 'trixie',
    'docker-buildx': 'trixie',
    runsc: 'trixie',
    mmdebstrap: 'trixie',
  },
};

export function canInstall(facts: EngineFacts): boolean {
  return (
    facts.platform === 'linux' &&
    facts.root &&
    facts.distribution.codename in suites &&
    facts.distribution.id === 'debian'
  );
}

/** What a person does where we cannot do it for them. */
export function howToGetAnEngine(facts: EngineFacts): string {
  if (facts.platform === 'darwin')
    return 'install Colima (`brew install colima docker docker-compose && colima start`) or Docker Desktop and start it';
  if (facts.dockerd)
    return facts.systemd
      ? '`sudo systemctl enable --now docker`'
      : 'start dockerd as root, or run `sudo ./hotcell doctor --fix`';
  if (facts.distribution.id === 'debian')
    return '`sudo ./hotcell doctor --fix` installs and starts it from Debian packages';
  if (facts.distribution.id === 'ubuntu') return '`sudo apt-get install docker.io docker-compose-v2 docker-buildx`';
  return "install Docker Engine 26 or newer with its compose and buildx plugins from your distribution's packages";
}

function packagesMissing(facts: EngineFacts): string[] {
  const packages = [
    ...(facts.dockerd ? [] : ['docker.io', 'docker-cli']),
    ...(facts.compose ? [] : ['docker-compose']),
    ...(facts.buildx ? [] : ['docker-buildx']),
    ...(facts.runsc ? [] : ['runsc']),
    ...(facts.mmdebstrap ? [] : ['mmdebstrap']),
  ];
  const from = suites[facts.distribution.codename] ?? {};
  return packages.map((name) => (from[name] ? `${name}/${from[name]}` : name));
}

const ownSockets = ['', 'unix:///var/run/docker.sock', 'unix:///run/docker.sock'];

/** An engine that was chosen and is not this machine's own is not ours to start. */
export function isChosenElsewhere({ endpoint }: Pick<EngineFacts, 'endpoint'>): boolean {
  return !ownSockets.includes(endpoint);
}

export const backToOwnEngine = 'start it, or `unset DOCKER_HOST; docker context use default`';

/** The steps from what is there to an engine that runs; none when nothing is missing. */
export function planEngine(facts: EngineFacts): EngineStep[] {
  const forbidden = /permission denied/i.test(facts.refusal);
  if (!facts.answers && forbidden && !facts.root) {
    const fix =
      'run `sudo usermod -aG docker "$USER"` and log in again (membership of the docker group is as much as root)';
    throw new HotcellError('engine_unavailable', `the engine's socket is forbidden to this user: ${fix}`);
  }
  if (!facts.answers && isChosenElsewhere(facts))
    throw new HotcellError(
      'engine_unavailable',
      `no engine answers at ${facts.endpoint}, which was chosen: ${backToOwnEngine}`,
    );
  if (!canInstall(facts)) {
    if (facts.answers) return [];
    if (facts.platform === 'linux' && facts.root && facts.dockerd) return [{ kind: 'start' }];
    throw new HotcellError('engine_unavailable', `no Docker engine answers: ${howToGetAnEngine(facts)}`);
  }
  const packages = packagesMissing(facts);
  const steps: EngineStep[] = [];
  if (facts.halfInstalled) steps.push({ kind: 'repair-packages' });
  if (packages.length > 0) {
    if (facts.distribution.codename === 'bookworm') steps.push({ kind: 'add-sources' });
    steps.push({ kind: 'install', packages });
  }
  if (!registersRunsc(facts.daemonJson)) steps.push({ kind: 'register-runsc' });
  if (!facts.answers) steps.push({ kind: 'start' });
  return steps;
}

export function describe(step: EngineStep): string {
  switch (step.kind) {
    case 'repair-packages':
      return 'finish the package installation that was interrupted (dpkg --configure -a)';
    case 'add-sources':
      return 'add Debian trixie (pinned low, so that upgrades do not take from it) and bookworm-backports to the package sources';
    case 'install':
      return `install ${step.packages.join(' ')}`;
    case 'register-runsc':
      return 'register gVisor (runsc) as a runtime in /etc/docker/daemon.json';
    case 'start':
      return 'start the engine';
  }
}

/** The same in a few words, for the line that is repeated while the step takes long. */
export function titleOf(step: EngineStep): string {
  return step.kind === 'install' ? 'installing the engine from Debian packages' : describe(step).replace(/ \(.*\)/, '');
}
