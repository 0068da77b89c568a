import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { configuration } from './configuration.ts';
import { reference } from './reference.ts';

const docs = join(import.meta.dirname, '../../docs');
writeFileSync(join(docs, 'configuration.md'), configuration());
writeFileSync(join(docs, 'reference.md'), reference());
