import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { rootCertificates } from 'node:tls';
import { command } from '../command.ts';

const publicNpm = 'https://registry.npmjs.org';

/** This machine's settings for package registries. They change where bytes come from, not which bytes. */
export async function registryArguments(env: NodeJS.ProcessEnv, scratch: string): Promise<Record<string, string>> {
  // npm reads its registry from several files, so ask npm; a package.json in the working folder must not interfere.
  const npm = await command(['npm', 'config', 'get', 'registry'], { cwd: scratch });
  const registry = npm.code === 0 && /^https?:/.test(npm.stdout) ? npm.stdout.trim() : publicNpm;
  const found: Record<string, string> = { NPM_REGISTRY: registry.replace(/\/$/, '') };
  for (const name of ['GOPROXY', 'GOSUMDB', 'PIP_INDEX_URL', 'HTTP_PROXY', 'HTTPS_PROXY', 'NO_PROXY']) {
    const value = env[name] ?? env[name.toLowerCase()];
    if (value) found[name] = value;
  }
  return found;
}

/**
 * The certificates that this machine trusts, for builds behind a proxy that intercepts TLS. They are passed as a secret,
 * so that no layer contains them. A machine without a bundle gets Node's.
 */
export async function certificates(env: NodeJS.ProcessEnv, scratch: string): Promise<string> {
  const bundles = [
    env.SSL_CERT_FILE,
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
