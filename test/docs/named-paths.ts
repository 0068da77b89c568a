import { existsSync, globSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';

/** Everything a page can name: the checkout without what is installed or made in it. */
const notOurs = (name: string) => ['node_modules', '.git', '.hotcell', 'corpus'].includes(basename(name));

export interface Tree {
  root: string;
  /** Names of source files: they are unique in the tree, so that a page may name one without its folder. */
  sources: ReadonlySet<string>;
  /** The rooms: a path that begins with one is a path of this repository. */
  rooms: ReadonlySet<string>;
}

export function treeAt(root: string): Tree {
  const sources = globSync('**/*.{ts,c,h,go,py,mjs,sh}', { cwd: root, exclude: notOurs }).map((file) => basename(file));
  const rooms = globSync('*/', { cwd: root, exclude: notOurs });
  return { root, sources: new Set(sources), rooms: new Set(rooms) };
}

export function pagesAt(root: string): string[] {
  return globSync(['*.md', '*/**/*.md', '.github/**/*.md'], { cwd: root, exclude: notOurs }).toSorted();
}

const isSource = /\w\.(?:ts|c|h|go|mjs)$/;
/** `NAME.yaml` stands for any name. */
const isPlaceholder = (path: string) => /^[A-Z]{3,}(?:-[A-Z]+)*\.(?!md$)/.test(basename(path));

/** One line for each path or link of a page that leads nowhere. */
export function deadPathsIn(tree: Tree, page: string, text: string): string[] {
  const there = (path: string) => existsSync(join(tree.root, path));
  const links = [...text.matchAll(/\]\(([^()\s]+)\)/g)]
    .map(([, target = '']) => target.replace(/#.*$/, ''))
    .filter((target) => target !== '' && !/^[a-z]+:/.test(target));
  const words = text
    .replaceAll(/\]\([^()\s]*\)/g, ']')
    .replaceAll(/[a-z]+:\/\/\S+/g, '')
    .split(/[^\w./@-]+/)
    .map((word) => word.replace(/^\.\/|\.+$/g, ''));
  const dead = words.filter((word) => {
    if (isPlaceholder(word)) return false;
    if (word.startsWith('@hotcell/')) return !there(join('node_modules', word));
    if (!word.includes('/')) return isSource.test(word) && !tree.sources.has(word) && !there(word);
    return (
      (tree.rooms.has(word.split('/')[0] ?? '') || isSource.test(word)) &&
      !there(word) &&
      !there(join(dirname(page), word))
    );
  });
  return [
    ...links.filter((link) => !there(join(dirname(page), link))).map((link) => `${page} links to ${link}`),
    ...[...new Set(dead)].map((path) => `${page} names ${path}`),
  ];
}

export function deadPaths(root: string): string[] {
  const tree = treeAt(root);
  return pagesAt(root).flatMap((page) => deadPathsIn(tree, page, readFileSync(join(root, page), 'utf8')));
}
