import { readFile, stat, statfs } from 'node:fs/promises';
import { freemem, totalmem } from 'node:os';
import { dirname } from 'node:path';
import { command } from '../command.ts';
import { gatherEngineFacts } from '../engine/facts.ts';
import { askEngine } from '../engine/info.ts';
import type { MachineFacts } from './facts.ts';

/** The first line a program prints about itself, or nothing when there is no such program. */
async function said(...argv: [string, ...string[]]): Promise<string> {
  const { code, stdout } = await command(argv);
  return code === 0 ? (stdout.trim().split('\n')[0] ?? '') : '';
}

/** Free bytes where a folder is, or will be. */
async function freeAt(path: string): Promise<{ path: string; freeBytes: number }> {
  const { bavail, bsize } = await statfs(await existing(path));
  return { path, freeBytes: bavail * bsize };
}

async function existing(path: string): Promise<string> {
  let there = path;
  while (!(await stat(there).catch(() => undefined)) && dirname(there) !== there) there = dirname(there);
  return there;
}

async function disks(home: string): Promise<MachineFacts['disk']> {
  const places = [home];
  const root = await said('docker', 'info', '--format', '{{.DockerRootDir}}');
  // An engine in a virtual machine keeps its images where we cannot look.
  const ofEngine = root === '' ? undefined : await stat(root).catch(() => undefined);
  if (ofEngine && ofEngine.dev !== (await stat(await existing(home))).dev) places.push(root);
  return await Promise.all(places.map(freeAt));
}

async function availableMemory(): Promise<number> {
  const text = await readFile('/proc/meminfo', 'utf8').catch(() => '');
  const kib = /^MemAvailable:\s+(\d+) kB$/m.exec(text)?.[1];
  return kib === undefined ? freemem() : Number(kib) * 1024;
}

export async function gatherMachine(home: string): Promise<MachineFacts> {
  const [tools, engine, composeVersion, buildxVersion, runscVersion, disk, availableBytes] = await Promise.all([
    gatherEngineFacts(),
    askEngine(),
    said('docker', 'compose', 'version', '--short'),
    said('docker', 'buildx', 'version'),
    said('runsc', '--version'),
    disks(home),
    availableMemory(),
  ]);
  return {
    tools,
    node: process.versions.node,
    arch: process.arch,
    engine,
    composeVersion,
    buildxVersion,
    runscVersion,
    disk,
    memory: { totalBytes: totalmem(), availableBytes },
    now: new Date().toISOString(),
  };
}
