import { readFile, stat, statfs } from 'node:fs/promises';
import { freemem, totalmem } from 'node:os';
import { dirname } from 'node:path';
import { command } from '../command.ts';
import type { EngineFacts } from '../engine/engine-facts.ts';
import { askEngine } from '../engine/info.ts';
import type { MachineFacts } from './doctor-facts.ts';

/** The first line that a program prints, or nothing if there is no such program. */
async function said(...argv: [string, ...string[]]): Promise<string> {
  const { code, stdout } = await command(argv);
  return code === 0 ? (stdout.trim().split('\n')[0] ?? '') : '';
}

/** Free bytes on the disk of a folder that exists or will. */
async function freeAt(path: string): Promise<{ path: string; freeBytes: number }> {
  const { bavail, bsize } = await statfs(await existing(path));
  return { path, freeBytes: bavail * bsize };
}

async function existing(path: string): Promise<string> {
  let there = path;
  while (!(await stat(there).catch(() => undefined)) && dirname(there) !== there) there = dirname(there);
  return there;
}

async function disks(home: string, rootOfEngine: string): Promise<MachineFacts['disk']> {
  const places = [home];
  // An engine in a virtual machine keeps its images where we can't look.
  const ofEngine = rootOfEngine === '' ? undefined : await stat(rootOfEngine).catch(() => undefined);
  if (ofEngine && ofEngine.dev !== (await stat(await existing(home))).dev) places.push(rootOfEngine);
  return await Promise.all(places.map(freeAt));
}

async function availableMemory(): Promise<number> {
  const text = await readFile('/proc/meminfo', 'utf8').catch(() => '');
  const kib = /^MemAvailable:\s+(\d+) kB$/m.exec(text)?.[1];
  return kib === undefined ? freemem() : Number(kib) * 1024;
}

export async function gatherMachine(home: string, tools: EngineFacts): Promise<MachineFacts> {
  const [engine, runscVersion, availableBytes, corePattern] = await Promise.all([
    askEngine(),
    said('runsc', '--version'),
    availableMemory(),
    readFile('/proc/sys/kernel/core_pattern', 'utf8').catch(() => ''),
  ]);
  return {
    tools,
    node: process.versions.node,
    arch: process.arch,
    engine,
    runscVersion,
    corePattern: corePattern.trim(),
    disk: await disks(home, engine?.root ?? ''),
    memory: { totalBytes: totalmem(), availableBytes },
    now: new Date().toISOString(),
  };
}
