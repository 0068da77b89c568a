import { z } from 'zod';

/** Clients and proxies give up on calls that take minutes. */
export const waitSeconds = z
  .number()
  .int()
  .min(0)
  .max(60)
  .default(30)
  .describe('how long to wait for the end; after it, the answer says how far the run is');
