import { registersRunsc } from '../engine/daemon-json.ts';
import type { EngineInfo } from '../engine/info.ts';
import { backToOwnEngine, canInstall, isChosenElsewhere, howToGetAnEngine } from '../engine/engine-plan.ts';
import { type Check, fail, isAtLeast, ok, warn } from './check.ts';
import type { MachineFacts } from './doctor-facts.ts';
import { judgeKernel } from './judge-kernel.ts';

const repair = './hotcell doctor --fix';

export function judgeEngine(facts: MachineFacts): Check {
  const { tools, engine } = facts;
  const { endpoint } = tools;
  if (engine) {
    if (!/^(unix|npipe):/.test(endpoint)) {
      const message = `the engine at ${endpoint} is on another machine, but cells mount files that workers stage on this one`;
      return fail('engine', message, 'unset DOCKER_HOST, or `docker context use default`');
    }
    if (!isAtLeast(engine.version, [25]))
      return fail(
        'engine',
        `Docker ${engine.version} is too old: Hotcell needs 25 or newer`,
        canInstall(tools)
          ? '`apt-get install -t trixie docker.io docker-cli` after `./hotcell doctor --fix` has added the source'
          : 'upgrade Docker Engine to 26 or newer',
      );
    return ok('engine', `Docker ${engine.version} on ${engine.operatingSystem}, ${engine.cpus} CPUs`);
  }
  if (/permission denied/i.test(tools.refusal) && !tools.root) {
    const fix = '`sudo usermod -aG docker "$USER"`, then log in again (the docker group is as powerful as root)';
    return fail('engine', "permission denied on the engine's socket: this user is not in the docker group", fix);
  }
  if (isChosenElsewhere(tools))
    return fail('engine', `no engine answers at the chosen address ${endpoint}`, backToOwnEngine);
  const fix = canInstall(tools) ? `\`${repair}\`` : howToGetAnEngine(tools);
  if (tools.dockerd) return fail('engine', 'Docker is installed but not running', fix);
  return fail('engine', 'no Docker engine answers', fix);
}

/** Engines in a virtual machine and rootless engines work, but cannot keep every promise. */
export function judgeKindOfEngine({ engine, tools }: MachineFacts): Check[] {
  if (!engine) return [];
  const checks: Check[] = [];
  const view = 'staged inputs cannot be mounted there with nosuid,nodev,noexec, only read-only; the posture says so';
  if (/Docker Desktop/i.test(engine.operatingSystem)) {
    const message = `Docker Desktop runs cells in a virtual machine of its own: gVisor cannot be added to it, and ${view}`;
    checks.push(warn('engine kind', message, 'for more isolation run Hotcell on Linux'));
  } else if (tools.endpoint.includes('/.colima/')) {
    const message = `Colima runs cells in a virtual machine of its own, which sees only your home folder: keep the checkout and HOTCELL_HOME in it. gVisor would have to be added inside it (\`colima ssh\`), and ${view}`;
    checks.push(warn('engine kind', message, 'for more isolation run Hotcell on Linux'));
  }
  if (engine.rootless) {
    const message =
      'the engine is rootless: all cells share one user of the host, so process limits do not apply per cell there, and gVisor and limits work only as far as cgroups are delegated';
    checks.push(warn('engine kind', message, 'use an engine that runs as root, on a dedicated machine'));
  }
  if (engine.unbounded.length > 0) {
    const message = `the engine cannot limit ${engine.unbounded.join(', ')}: one job could take all of it`;
    checks.push(
      fail('limits', message, 'enable these cgroup controllers (for rootless: delegate them), then restart the engine'),
    );
  } else checks.push(ok('limits', `memory, swap, CPU and processes can be limited (cgroup v${engine.cgroupVersion})`));
  return checks;
}

export function judgeTools({ tools }: MachineFacts): Check[] {
  const { composeVersion, buildxVersion } = tools;
  const install = canInstall(tools)
    ? `\`${repair}\``
    : "install Docker's compose and buildx plugins from your distribution";
  const compose = !tools.compose
    ? fail('compose', 'the compose plugin is missing', install)
    : isAtLeast(composeVersion, [2, 21])
      ? ok('compose', `docker compose ${composeVersion}`)
      : fail('compose', `docker compose ${composeVersion} is too old: Hotcell needs 2.21 or newer`, install);
  const buildx = tools.buildx
    ? ok('buildx', buildxVersion)
    : fail('buildx', 'the buildx plugin is missing; Hotcell builds images with it', install);
  return [compose, buildx];
}

/** Known vulnerabilities, by the version that fixed them. Distributions patch older versions too: hence only a warning. */
export function judgeVersions(facts: MachineFacts): Check[] {
  const { engine } = facts;
  if (!engine) return [];
  return [runcCheck(engine), engineFixes(engine), gvisorCheck(facts, engine), judgeKernel(engine.kernel)];
}

function runcCheck({ runc }: EngineInfo): Check {
  const closed = isAtLeast(runc, [1, 3, 3]) || (isAtLeast(runc, [1, 2, 8]) && !isAtLeast(runc, [1, 3]));
  if (closed) return ok('runc', `runc ${runc}`);
  const message = `runc ${runc || 'of unknown version'} is older than 1.2.8 and 1.3.3, which fix CVE-2025-31133, CVE-2025-52565 and CVE-2025-52881 (container escapes); your distribution may have patched it`;
  return warn('runc', message, "upgrade runc; until then run untrusted code under a policy with the runtime 'gvisor'");
}

function engineFixes({ version }: EngineInfo): Check {
  if (isAtLeast(version, [29, 5, 1])) return ok('engine fixes', `Docker ${version} has all known fixes`);
  const message = `Docker ${version} is older than 29.5.1, which fixes races in \`docker cp\` (Hotcell never uses it with cells)`;
  return warn('engine fixes', message, 'upgrade the engine when your distribution offers a newer one');
}

function gvisorCheck({ tools, runscVersion }: MachineFacts, { runtimes }: EngineInfo): Check {
  const add = canInstall(tools) ? `\`${repair}\`` : "install gVisor's runsc and register it in /etc/docker/daemon.json";
  if (!runtimes.includes('runsc'))
    return warn(
      'gVisor',
      "gVisor is not registered with the engine: runs under a policy with the runtime 'gvisor' will wait",
      add,
    );
  if (tools.daemonJson !== undefined && !registersRunsc(tools.daemonJson))
    return fail('gVisor', 'runsc is registered without the flags that cells need (--oci-seccomp and others)', add);
  return runscFixes(runscVersion);
}

/** A gVisor version is the date of its release. */
const runscFixed = 20250407;

export function runscFixes(version: string): Check {
  const day = Number(/\b20\d{6}\b/.exec(version)?.[0] ?? 0);
  if (day >= runscFixed) return ok('gVisor', version);
  const message = `${version || 'runsc of unknown version'} is older than April 2025, when CVE-2025-2713 was fixed (reading files without permission); your distribution may have patched it. Newer releases also report more of the posture`;
  return warn('gVisor', message, "install a newer runsc from gVisor's releases and name its path in daemon.json");
}
