import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { checkout } from '@hotcell/setup/settings/installation.ts';
import type { OwnInstallation } from '../support/own-installation.ts';
import { isAsDocumented } from './as-documented.ts';
import { Desk } from './paste.ts';
import { recipesIn } from './read-recipes.ts';

const pages = ['README.md', ...globSync('docs/*.md', { cwd: checkout }).toSorted()];

interface World {
  installation: Pick<OwnInstallation, 'env' | 'portBase'>;
  /** An interpreter that has what the Python package needs. */
  python: string;
}

/** Everything that the README and the docs tell a reader to paste is pasted, and prints what they say. */
export function testPages(world: () => World): void {
  for (const page of pages) {
    const recipes = recipesIn(page, readFileSync(join(checkout, page), 'utf8'));
    if (recipes.length === 0) continue;
    describe(`what ${page} says`, () => {
      let desk: Desk;
      before(async () => {
        const { installation, python } = world();
        desk = await Desk.clear(installation, python);
      });
      after(() => desk[Symbol.asyncDispose]());

      for (const recipe of recipes)
        test(`line ${recipe.line} runs as it stands`, async () => {
          const { code, stdout, stderr } = await desk.paste(recipe);
          assert.equal(code, 0, `${stdout}\n${stderr}`);
          if (recipe.expected === undefined) return;
          const wanted = desk.asHere(recipe.expected);
          assert.ok(isAsDocumented(wanted, stdout), `--- documented\n${wanted}\n--- printed\n${stdout}\n${stderr}`);
        });
    });
  }
}
