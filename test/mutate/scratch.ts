import {
  cpSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { must } from '@hotcell/setup/command.ts';
import type { SourceFile } from 'typescript/unstable/ast';
import { API } from 'typescript/unstable/sync';
import type { Change } from './changes.ts';

/** A copy of the checkout that may be changed: the tree itself never is. */
export class Scratch implements Disposable {
  readonly root: string;
  readonly #types: API;

  private constructor(root: string) {
    this.root = root;
    this.#types = new API({ cwd: root });
  }

  static async copyOf(checkout: string): Promise<Scratch> {
    const root = realpathSync(await mkdtemp(join(tmpdir(), 'mutate-')));
    const listed = await must(['git', '-C', checkout, 'ls-files', '--cached', '--others', '--exclude-standard']);
    for (const file of listed.split('\n').filter(Boolean)) {
      mkdirSync(dirname(join(root, file)), { recursive: true });
      cpSync(join(checkout, file), join(root, file));
    }
    linkModules(join(checkout, 'node_modules'), join(root, 'node_modules'));
    return new Scratch(root);
  }

  source(file: string): SourceFile | undefined {
    return this.#project().program.getSourceFile(join(this.root, file));
  }

  /** Runs `work` with the change made. Undefined if the type checker refuses the change, as `npm run check` would. */
  async changed<T>(change: Change, work: () => Promise<T>): Promise<T | undefined> {
    const path = join(this.root, change.file);
    const before = readFileSync(path, 'utf8');
    writeFileSync(path, before.slice(0, change.start) + change.text + before.slice(change.end));
    try {
      const { program } = this.#project(path);
      const refused = [...program.getSyntacticDiagnostics(path), ...program.getSemanticDiagnostics(path)];
      return refused.length > 0 ? undefined : await work();
    } finally {
      writeFileSync(path, before);
      this.#project(path);
    }
  }

  #project(changed?: string) {
    const config = join(this.root, 'tsconfig.json');
    const snapshot = this.#types.updateSnapshot({
      openProjects: [config],
      ...(changed ? { fileChanges: { changed: [changed] } } : {}),
    });
    const project = snapshot.getProject(config);
    if (!project) throw new Error(`TypeScript found no project ${config}`);
    return project;
  }

  [Symbol.dispose](): void {
    this.#types.close();
    rmSync(this.root, { recursive: true, force: true });
  }
}

/** The packages of others as they are; ours are links into the checkout, and lead into the copy here. */
function linkModules(from: string, to: string): void {
  mkdirSync(to);
  for (const name of readdirSync(from))
    if (name === '@hotcell') cpSync(join(from, name), join(to, name), { recursive: true, verbatimSymlinks: true });
    else symlinkSync(join(from, name), join(to, name));
}
