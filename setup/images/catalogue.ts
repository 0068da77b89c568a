import type { ImageKind } from '@hotcell/contract/images-lock.ts';

export const imageNames = [
  'base',
  'tools',
  'valkey',
  'store',
  'gvisor',
  'cell-init',
  'minimal',
  'node',
  'service',
  'keeper',
  'python',
] as const;
export type ShippedImage = (typeof imageNames)[number];

interface ShippedRecipe {
  kind: ImageKind;
  /** Build arguments that are our own images: each is built first, and its digest is part of this one's tag. */
  parents: Readonly<Record<string, ShippedImage>>;
  /** The files that the build sees, relative to the checkout; the Dockerfile is `images/<name>/Dockerfile`. */
  context: { root: string; paths: readonly string[] };
}

const ownFolder = (name: ShippedImage) => ({ root: `images/${name}`, paths: ['.'] });
const onBase = { BASE: 'base' } as const;

/** The workspaces whose sources the services run. */
const servicePaths = [
  'package.json',
  'package-lock.json',
  '.npmrc',
  'contract',
  'mcp',
  'outside',
  'record',
  'policies',
  'producer',
  'executor-worker',
  'keeper',
  'notary',
  // npm installs for the whole lock file; the services run nothing from these rooms.
  'setup/package.json',
  'clients/typescript/package.json',
  'clients/cli/package.json',
  'images/service',
  'images/seccomp',
  'images/preloads',
] as const;

export const catalogue: Readonly<Record<ShippedImage, ShippedRecipe>> = {
  base: { kind: 'part', parents: {}, context: ownFolder('base') },
  tools: { kind: 'part', parents: onBase, context: ownFolder('tools') },
  valkey: { kind: 'service', parents: onBase, context: ownFolder('valkey') },
  store: { kind: 'service', parents: onBase, context: ownFolder('store') },
  gvisor: { kind: 'part', parents: onBase, context: ownFolder('gvisor') },
  'cell-init': {
    kind: 'part',
    parents: onBase,
    context: {
      root: 'images/cell-init',
      paths: ['Dockerfile', '.dockerignore', 'copy.Dockerfile', 'Makefile', 'src', 'fuzz'],
    },
  },
  minimal: { kind: 'cell', parents: onBase, context: ownFolder('minimal') },
  node: { kind: 'cell', parents: onBase, context: ownFolder('node') },
  service: { kind: 'service', parents: { BASE: 'base', NODE: 'node' }, context: { root: '.', paths: servicePaths } },
  keeper: {
    kind: 'service',
    parents: { BASE: 'base', SERVICE: 'service', GVISOR: 'gvisor' },
    context: ownFolder('keeper'),
  },
  python: { kind: 'cell', parents: { TOOLS: 'tools' }, context: ownFolder('python') },
};

export function isShipped(name: string): name is ShippedImage {
  return (imageNames as readonly string[]).includes(name);
}

/**
 * Python takes as long as most others together, and compiling gVisor as long as the rest: each has a lane of its own. The
 * services come first in the third, and the keeper, which has gVisor, last.
 */
export function lanesOf(names: readonly ShippedImage[]): ShippedImage[][] {
  const lanes = [['tools', 'python'], ['gvisor']] as const;
  const alone = new Set<ShippedImage>(lanes.flat());
  const rest = imageNames.filter((name) => !alone.has(name) && name !== 'keeper');
  const wanted = new Set(names);
  return [...lanes, [...rest, 'keeper' as const]].map((lane) => lane.filter((name) => wanted.has(name)));
}
