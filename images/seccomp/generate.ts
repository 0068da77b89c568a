import { writeFileSync } from 'node:fs';
import { architectures, profileText, runtimes } from './profiles.ts';

for (const runtime of runtimes)
  for (const architecture of architectures)
    writeFileSync(`${import.meta.dirname}/${runtime}-${architecture}.json`, profileText(runtime, architecture));
