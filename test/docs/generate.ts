import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { commandsPage } from './commands-page.ts';
import { configuration } from './configuration.ts';
import { pythonAnswers, pythonModels } from './python-answers.ts';
import { reference } from './reference.ts';
import { schemas } from './schemas.ts';

const root = join(import.meta.dirname, '../..');
const write = (path: string, text: string) => writeFileSync(join(root, path), text);
write('docs/commands.md', await commandsPage());
write('docs/configuration.md', configuration());
write('docs/reference.md', reference());
write('test/unit/contract/schemas.golden.txt', schemas());
for (const [file, ids] of Object.entries(pythonAnswers))
  write(`clients/python/src/hotcell/${file}.py`, pythonModels(ids));
