import assert from 'node:assert/strict';
import type { Hotcell } from '@hotcell/client/index.ts';
import { HotcellError } from '@hotcell/contract/errors.ts';

/** The id of a request that the producer refused: there is no such policy. */
export async function refusedRun(client: Hotcell): Promise<string> {
  const blocks = [{ language: 'python', code: 'print(1)' }];
  const error: unknown = await client.submit({ blocks, policy: 'nowhere' }).catch((cause: unknown) => cause);
  assert.ok(error instanceof HotcellError, String(error));
  return String(error.extra['run']);
}
