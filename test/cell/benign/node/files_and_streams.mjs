import assert from 'node:assert/strict';
import { createReadStream, createWriteStream, watch, writeFileSync } from 'node:fs';
import { mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { once } from 'node:events';
import { pipeline } from 'node:stream/promises';
import { createGunzip, createGzip } from 'node:zlib';

const folder = await mkdtemp('/tmp/some-');
await writeFile(`${folder}/a`, 'hello'.repeat(100_000));
await pipeline(createReadStream(`${folder}/a`), createGzip(), createWriteStream(`${folder}/a.gz`));
await pipeline(createReadStream(`${folder}/a.gz`), createGunzip(), createWriteStream(`${folder}/b`));
assert.equal((await readFile(`${folder}/b`)).length, 500_000);
const watching = watch(folder);
const changed = once(watching, 'change');
writeFileSync(`${folder}/c`, 'x');
await changed;
watching.close();
