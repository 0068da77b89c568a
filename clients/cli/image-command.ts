import { HotcellError } from '@hotcell/contract/errors.ts';
import { counted, formatBytes } from '@hotcell/contract/format.ts';
import { imageNames } from '@hotcell/setup/images/catalogue.ts';
import { type OwnImageRequest, deriveImage, newName, remarks } from '@hotcell/setup/images/derive.ts';
import { ensureImages } from '@hotcell/setup/images/ensure-images.ts';
import { earlierRoots, listImages, type ListedImage } from '@hotcell/setup/images/list-images.ts';
import type { InstalledRoot } from '@hotcell/setup/images/installed-roots.ts';
import { importImage } from '@hotcell/setup/keeper/import-image.ts';
import { ensureRoots } from '@hotcell/setup/keeper/roots.ts';
import { lockedImages } from '@hotcell/setup/images/images-lock-file.ts';
import { holdImage } from '@hotcell/setup/services/images.ts';
import { findInstallation, settingsOf } from '@hotcell/setup/settings/installation.ts';
import type { Command } from 'commander';
import { printRows } from './columns.ts';
import { globalsOf, printJson, subcommand } from './globals.ts';
import { interruptible, progressFor } from './working.ts';

interface BuildOptions {
  from?: string;
  requirements?: string;
  dockerfile?: string;
}

export function define(command: Command): void {
  const build = subcommand(command, 'build', 'build the bundled images, or one of your own', [
    'image build',
    'image build geo --from python --requirements requirements.txt',
    'image build r --from base --dockerfile r/Dockerfile',
  ])
    .argument('[name]', 'the name of your image')
    .option('--from <image>', 'the base image (default: python)')
    .option('--requirements <file>', 'install the Python packages in this file')
    .option(
      '--dockerfile <file>',
      'build this file in its folder; after ARG BASE, FROM ${BASE} is the image of --from',
    );
  build.action(async (name: string | undefined, options: BuildOptions) => {
    interruptible(['./hotcell', ...process.argv.slice(2)].join(' '));
    await (name === undefined ? buildShipped(build, options) : buildOwn(build, askedFor(build, name, options)));
  });

  const load = subcommand(command, 'import', 'import an image from an archive, without the engine', [
    'image import geo.tar --name geo',
    'docker save geo:1 -o geo.tar && ./hotcell image import geo.tar --name geo',
  ])
    .argument('<file>', 'what `docker save` writes, or an OCI layout as a tar archive (skopeo, buildah)')
    .requiredOption('--name <name>', 'the name that policies give it');
  load.action(async (file: string, { name }: { name: string }) => {
    interruptible(['./hotcell', ...process.argv.slice(2)].join(' '));
    await importOne(load, file, newName(name));
  });

  const ls = subcommand(command, 'ls', 'list the images of this installation; --json lists every package', [
    'image ls',
    'image ls --json',
  ]);
  ls.action(async () => {
    const { home } = await settingsOf(process.env);
    const heads = ['IMAGE', 'FOR', 'PACKAGES', 'SIZE', 'FROM', 'DIGEST', 'STATE'];
    const globals = globalsOf(ls);
    printRows(globals, await listImages(home), heads, row);
    const earlier = await earlierRoots(home);
    if (earlier.length > 0 && !globals.json)
      process.stdout.write(
        `\nUnpacked for earlier runs, and removed by \`up\` a week after their last use:\n${earlier.map(earlierLine).join('')}`,
      );
  });
}

function askedFor(command: Command, name: string, { from, requirements, dockerfile }: BuildOptions): OwnImageRequest {
  if ((requirements === undefined) === (dockerfile === undefined))
    command.error(`image build ${name} needs either --requirements FILE or --dockerfile FILE.`);
  const source = requirements === undefined ? { dockerfile: dockerfile ?? '' } : { requirements };
  return { name, from: from ?? 'python', source };
}

async function buildShipped(command: Command, options: BuildOptions): Promise<void> {
  if (Object.keys(options).some((option) => ['from', 'requirements', 'dockerfile'].includes(option)))
    command.error('An image of your own needs a name: image build NAME …');
  const globals = globalsOf(command);
  const { home } = await settingsOf(process.env);
  const images = await ensureImages({ home }, imageNames, progressFor(globals));
  for (const name of imageNames) {
    const { ref, digest } = images[name];
    if (globals.json) printJson({ name, ref, digest });
    else process.stdout.write(`${name}  ${digest}\n`);
  }
}

async function importOne(command: Command, file: string, name: string): Promise<void> {
  const globals = globalsOf(command);
  const installation = await findInstallation(process.env);
  if (installation?.cells !== 'keeper')
    throw new HotcellError(
      'invalid',
      'An imported image is for the cells of a keeper, and the engine makes the cells here. Use `docker load`, and `./hotcell image build NAME --dockerfile FILE`.',
    );
  const { entries, ...image } = await importImage(installation.home, { file, name }, progressFor(globals));
  const policy = `images: [python, ${name}]`;
  if (globals.json) return printJson({ name, ...image, entries, policy });
  process.stdout.write(`${name}  ${image.digest}  ${counted(entries, 'file')}\n`);
  process.stdout.write(`To let runs use it, name it in a policy, for example:\n  ${policy}\n`);
}

async function buildOwn(command: Command, asked: OwnImageRequest): Promise<void> {
  const globals = globalsOf(command);
  const installation = await findInstallation(process.env);
  const { home } = await settingsOf(process.env);
  const { image, report } = await deriveImage({ home }, asked, progressFor(globals));
  if (installation) await holdImage(installation, asked.name, image.digest);
  const keeper = installation?.cells === 'keeper' ? (await lockedImages(home))['keeper'] : undefined;
  if (keeper) await ensureRoots(home, keeper.digest, { [asked.name]: image }, progressFor(globals));
  const policy = `images: [python, ${asked.name}]`;
  if (globals.json) return printJson({ name: asked.name, ...image, remarks: remarks(report), policy, report });
  const packages = `${report.packages.length} packages, ${formatBytes(report.bytes)}`;
  process.stdout.write(`${asked.name}  ${image.digest}  ${packages}; no setuid files\n`);
  for (const remark of remarks(report)) process.stdout.write(`  note: ${remark}\n`);
  process.stdout.write(`To let runs use it, name it in a policy, for example:\n  ${policy}\n`);
}

const earlierLine = ({ image, usedAt }: InstalledRoot) => `  ${image}  last used ${usedAt.toISOString()}\n`;

function row({ name, kind, digest, from, present, report, root }: ListedImage): string[] {
  const packages = report ? String(report.packages.length) : '?';
  const size = report ? formatBytes(report.bytes) : '?';
  const there = present ? 'built' : report || !root ? 'missing: run ./hotcell image build' : 'imported';
  const state = `${there}${root ? ', unpacked' : ''}`;
  return [name, kind, packages, size, from?.name ?? '', digest.slice(0, 19), state];
}
