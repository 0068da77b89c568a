import { HotcellError } from '@hotcell/contract/errors.ts';
import { registersRunsc } from './daemon-json.ts';
import type { EngineFacts } from './engine-facts.ts';

export type EngineStep =
  | { kind: 'repair-packages' }
  | { kind: 'add-sources' }
  | { kind: 'install'; packages: string[] }
  | { kind: 'register-runsc' }
  | { kind: 'start' };

/** The suite that each package comes from: bookworm's own engine and gVisor are too old. */
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

/** What the user has to do where set-up cannot. */
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

/** Set-up does not start an engine that the user chose and that is not this machine's own. */
export function isChosenElsewhere({ endpoint }: Pick<EngineFacts, 'endpoint'>): boolean {
  return !ownSockets.includes(endpoint);
}

export const backToOwnEngine = 'start it, or `unset DOCKER_HOST; docker context use default`';

/** The steps to a running engine; none if nothing is missing. */
export function planEngine(facts: EngineFacts): EngineStep[] {
  const forbidden = /permission denied/i.test(facts.refusal);
  if (!facts.answers && forbidden && !facts.root) {
    const fix = 'Run `sudo usermod -aG docker "$USER"` and log in again (the docker group is as powerful as root).';
    throw new HotcellError('engine_unavailable', `This user may not use the engine's socket. ${fix}`);
  }
  if (!facts.answers && isChosenElsewhere(facts))
    throw new HotcellError(
      'engine_unavailable',
      `No engine answers at the chosen address ${facts.endpoint}: ${backToOwnEngine}.`,
    );
  if (!canInstall(facts)) {
    if (facts.answers) return [];
    if (facts.platform === 'linux' && facts.root && facts.dockerd) return [{ kind: 'start' }];
    throw new HotcellError('engine_unavailable', `No Docker engine answers: ${howToGetAnEngine(facts)}.`);
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
      return 'finish an interrupted package installation (dpkg --configure -a)';
    case 'add-sources':
      return 'add Debian trixie (pinned low, so that upgrades ignore it) and bookworm-backports to the package sources';
    case 'install':
      return `install ${step.packages.join(' ')}`;
    case 'register-runsc':
      return 'register gVisor (runsc) as a runtime in /etc/docker/daemon.json';
    case 'start':
      return 'start the engine';
  }
}

/** A short form, for the line that repeats during a long step. */
export function titleOf(step: EngineStep): string {
  return step.kind === 'install' ? 'installing the engine from Debian packages' : describe(step).replace(/ \(.*\)/, '');
}
