import { HotcellError, messageOf } from '@hotcell/contract/errors.ts';
import { showProgressOn } from '../progress.ts';
import { homeOf } from '../settings/installation.ts';
import { imageNames, isShipped } from './catalogue.ts';
import { ensureImages } from './ensure-images.ts';

const [verb, ...asked] = process.argv.slice(2);
const strange = asked.filter((name) => !isShipped(name));

if (verb !== 'build' || strange.length > 0) {
  process.stderr.write(`usage: node setup/images/images-main.ts build [${imageNames.join('|')}]…\n`);
  process.exit(2);
}
try {
  const home = homeOf(process.env.HOTCELL_HOME ? { HOTCELL_HOME: process.env.HOTCELL_HOME } : {});
  const names = asked.length > 0 ? asked.filter(isShipped) : imageNames;
  const images = await ensureImages({ home }, names, showProgressOn(process.stderr));
  for (const name of names) process.stdout.write(`${name} ${images[name].ref} ${images[name].digest}\n`);
} catch (error) {
  process.stderr.write(`hotcell: ${messageOf(error)}\n`);
  process.exitCode = error instanceof HotcellError ? 1 : 70;
}
