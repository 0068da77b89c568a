import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { configuration } from './configuration.ts';

writeFileSync(join(import.meta.dirname, '../../docs/configuration.md'), configuration());
