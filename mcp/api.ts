import type { RouteCaller } from '@hotcell/contract/api/route-caller.ts';

/** The API of Hotcell with a key in it: every tool asks it, as any other client would, and has its rights and bounds. */
export type Api = Pick<RouteCaller, 'call' | 'rows' | 'open'>;
