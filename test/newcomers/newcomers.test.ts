import { after, before } from 'node:test';
import { join } from 'node:path';
import { type Bed, openBed } from '../support/bed.ts';
import { type OwnInstallation, ownInstallation } from '../support/own-installation.ts';
import { pythonTools } from '../support/python-client.ts';
import { testPages } from './pasted-pages.ts';
import { testSessions } from './typed-sessions.ts';

/** One whole installation for all that newcomers paste and type. */
let bed: Bed;
let installation: OwnInstallation;
let python: string;

before(async () => {
  bed = await openBed();
  python = join(await pythonTools(bed), 'bin/python');
  installation = await ownInstallation();
});
after(async () => {
  await installation[Symbol.asyncDispose]();
  await bed[Symbol.asyncDispose]();
});

testPages(() => ({ installation, python }));
testSessions(() => installation);
