import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { type Bed, openBed } from '../support/bed.ts';

let bed: Bed;
before(async () => {
  bed = await openBed();
});
after(async () => {
  await bed?.[Symbol.asyncDispose]();
});

/** The header and segments of a 64-bit little-endian ELF file. */
function elfOf(file: Buffer) {
  const at = Number(file.readBigUInt64LE(32));
  const [size, count] = [file.readUInt16LE(54), file.readUInt16LE(56)];
  const segments = Array.from({ length: count }, (_, i) => at + i * size).map((start) => ({
    type: file.readUInt32LE(start),
    flags: file.readUInt32LE(start + 4),
  }));
  return { magic: file.toString('latin1', 1, 4), bits: file[4], machine: file.readUInt16LE(18), segments };
}

const dynamic = 2;
const interpreter = 3;
const stack = 0x6474e551;
const executable = 1;
const writable = 2;

for (const [name, machine, arch] of [
  ['cell-init-x64', 62, 'x64'],
  ['cell-init-arm64', 183, 'arm64'],
] as const)
  test(`${name} is a small program that needs nothing from an image`, async (t) => {
    const file = await readFile(join(bed.initFolder, name));
    const elf = elfOf(file);
    assert.deepEqual([elf.magic, elf.bits, elf.machine], ['ELF', 2, machine]);
    assert.ok(file.length < 1024 * 1024, `${file.length} bytes`);
    // Static: it needs no loader from the image.
    assert.deepEqual(
      elf.segments.filter(({ type }) => type === interpreter || type === dynamic),
      [],
    );
    for (const { type, flags } of elf.segments)
      assert.notEqual(flags & (executable | writable), executable | writable, `segment ${type} is writable code`);
    assert.ok(
      elf.segments.some(({ type }) => type === stack),
      'its stack is told to be no code',
    );
    const ran = arch === process.arch ? 'built and run' : `built, not run: this machine is ${process.arch}`;
    t.diagnostic(`${name}: ${file.length} bytes, ${ran}`);
  });
