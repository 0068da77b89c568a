import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { ImageReport } from '@hotcell/contract/image-report.ts';
import { defaultPolicy } from '@hotcell/contract/names.ts';
import { parseJsonAs } from '@hotcell/contract/parse.ts';
import type { Policy } from '@hotcell/contract/policy.ts';
import { policyPrompt } from '@hotcell/contract/policy-prompt.ts';
import type { Logger } from '@hotcell/outside/process/log.ts';
import type { PolicyShelf } from '../policies/shelf.ts';

interface Known {
  policies: Pick<PolicyShelf, 'get'>;
  /** The installation's `images.lock`; the reports of the images are beside it. */
  imagesLock: string;
  log: Logger;
}

/** What a cell has and has not under the usual policy, said again only when that changes. */
export class ToldCell {
  readonly #known: Known;
  #digest: string | undefined;
  #text: string | undefined;

  constructor(known: Known) {
    this.#known = known;
  }

  /** Undefined where there is no such policy: the tools work all the same. */
  async text(): Promise<string | undefined> {
    const { policies, log } = this.#known;
    try {
      const { policy, digest } = policies.get(defaultPolicy);
      if (this.#digest !== digest) this.#text = policyPrompt(policy, await this.#reportOf(policy.images[0]));
      this.#digest = digest;
      return this.#text;
    } catch (error) {
      log.warn({ err: error }, 'the tools of MCP do not say what a cell has');
      return undefined;
    }
  }

  /** Of an image that this installation did not build there is none. */
  async #reportOf(image: Policy['images'][number] | undefined): Promise<ImageReport | undefined> {
    if (!image) return undefined;
    const path = join(dirname(this.#known.imagesLock), `${image.name}.packages.json`);
    const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return undefined;
      throw error;
    });
    const report = text === undefined ? undefined : parseJsonAs(ImageReport, text, path);
    return report?.digest === image.digest ? report : undefined;
  }
}
