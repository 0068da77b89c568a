import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { rootCertificates } from 'node:tls';
import { Digest } from '@hotcell/contract/digest.ts';
import { HotcellError } from '@hotcell/contract/errors.ts';
import { command, must } from '../command.ts';

export type Say = (line: string) => void;

const labels = { 'hotcell.managed': '1', 'hotcell.role': 'build' };

/** The engine's own architecture, which is not ours when it runs in a virtual machine or elsewhere. */
export async function engineArchitecture(): Promise<string> {
  const { code, stdout, stderr } = await command(['docker', 'version', '--format', '{{.Server.Arch}}']);
  if (code === 0 && stdout.trim() !== '') return stdout.trim();
  throw new HotcellError(
    'engine_unavailable',
    `the engine does not answer, so no image can be built or found: ${stderr.trim() || 'no reason given'}. \`./hotcell doctor --fix\` sets it up`,
  );
}

/** Every image of ours in the engine, by its tag. One call, however many there are. */
export async function presentImages(): Promise<Map<string, Digest>> {
  const format = '{{.Repository}}:{{.Tag}} {{.ID}}';
  const filter = 'label=hotcell.managed=1';
  const listed = await must(['docker', 'image', 'ls', '--no-trunc', '--filter', filter, '--format', format]);
  const rows = listed.split('\n').filter((line) => line !== '' && !line.includes('<none>'));
  return new Map(rows.map((row) => row.split(' ') as [string, string]).map(([ref, id]) => [ref, Digest.parse(id)]));
}

export async function digestOfRef(ref: string): Promise<Digest> {
  return Digest.parse((await must(['docker', 'image', 'inspect', '--format', '{{.Id}}', ref])).trim());
}

/**
 * The certificates this machine trusts, for builds that fetch from behind a proxy which intercepts TLS. Handed over as
 * a secret, so that they stand in no layer. A machine without a bundle gets Node's.
 */
export async function certificates(scratch: string): Promise<string> {
  const bundles = [
    process.env.SSL_CERT_FILE,
    '/etc/ssl/certs/ca-certificates.crt',
    '/etc/pki/tls/certs/ca-bundle.crt',
    '/etc/ssl/cert.pem',
  ];
  const found = bundles.find((path) => path && existsSync(path));
  if (found) return found;
  const made = join(scratch, 'ca.pem');
  await writeFile(made, `${rootCertificates.join('\n')}\n`);
  return made;
}

const publicNpm = 'https://registry.npmjs.org';

/** Settings of this machine for reaching package registries. They change where bytes come from, not which. */
export async function registryArguments(env: NodeJS.ProcessEnv): Promise<Record<string, string>> {
  // npm keeps its registry in files of several places: it knows best.
  const npm = await command(['npm', 'config', 'get', 'registry'], { cwd: tmpdir() });
  const registry = npm.code === 0 && /^https?:/.test(npm.stdout) ? npm.stdout.trim() : publicNpm;
  const names = ['GOPROXY', 'GOSUMDB', 'PIP_INDEX_URL', 'HTTP_PROXY', 'HTTPS_PROXY', 'NO_PROXY'];
  const found: Record<string, string> = { NPM_REGISTRY: registry.replace(/\/$/, '') };
  for (const name of names) {
    const value = env[name] ?? env[name.toLowerCase()];
    if (value) found[name] = value;
  }
  return found;
}

interface Build {
  name: string;
  dockerfile: string;
  context: string;
  arguments: Readonly<Record<string, string>>;
  /** A tag in the engine, or a folder for the files of the last stage. */
  to: { ref: string } | { folder: string };
  certificates: string;
  say: Say;
}

// What BuildKit prints: "#12 3.456 text of the command", "#12 [build 2/5] RUN …", "#12 DONE 1.2s".
const readable = (line: string) => line.replace(/^#\d+ (?:\d+\.\d+ )?/, '');

/** One build. Nothing is pulled that is not there; what was built before it was interrupted is taken up again. */
export async function build(build: Build): Promise<void> {
  const pairs = (option: string, all: Readonly<Record<string, string>>) =>
    Object.entries(all).flatMap(([key, value]) => [option, `${key}=${value}`]);
  const output =
    'ref' in build.to
      ? ['--tag', build.to.ref, ...pairs('--label', { ...labels, 'hotcell.image': build.name })]
      : ['--output', `type=local,dest=${build.to.folder}`];
  const options = ['--progress=plain', '--pull=false', '--provenance=false', '--sbom=false'];
  const secret = ['--secret', `id=ca,src=${build.certificates}`];
  const given = pairs('--build-arg', { ...(await registryArguments(process.env)), ...build.arguments });
  const argv = ['build', ...options, ...secret, ...given, ...output, '--file', build.dockerfile, build.context];
  const { code, stderr, stdout } = await command(['docker', ...argv], {
    env: { DOCKER_BUILDKIT: '1' },
    say: (line) => build.say(readable(line)),
  });
  if (code === 0) return;
  throw new HotcellError('internal', failure(build.name, code, stderr.trim() || stdout.trim()));
}

/** What the failing command itself said last; where no command failed, what the builder said. */
function failure(name: string, code: number, said: string): string {
  const lines = said.split('\n').filter((line) => line.trim() !== '');
  const ofCommand = lines.filter((line) => /^#\d+ \d+\.\d+ /.test(line)).map(readable);
  const ofBuilder = lines.filter((line) => line.startsWith('ERROR:')).map((line) => line.slice(0, 300));
  const last = [...(ofCommand.length > 0 ? ofCommand.slice(-12) : lines.slice(-4)), ...ofBuilder];
  return `the image ${name} could not be built (${code}); nothing was registered. The last lines:\n${last.map((line) => `  ${line}`).join('\n')}\nRepair what they name (a package registry out of reach, a full disk, a wrong line in the recipe), then run the same command again: it goes on where it stopped`;
}
