import { FairShare } from '@hotcell/outside/process/fair-share.ts';

const mib = 1024 * 1024;

/** One request's body may be this large; larger data is an input. */
export const bodyLimitBytes = 64 * mib;

/** A reader takes an answer at least this fast, on the whole. */
export const leastReadPerSecond = 16 * 1024;

/** So many answers at once may be fed by a connection to the store of their own. */
const downloadsAtOnce = 64;
/** The connections to the store for such answers, and those for uploads and freezing. */
export const bulkSockets = downloadsAtOnce + 32;

/** Connections of known clients, and of those that have not shown a key. */
const connectionsAtOnce = 10_000;
export const strangersAtOnce = 1_000;

/** What all requests of this process share: each is taken before it is used, and given back in whatever way that ends. */
export function openDoors(settings: { HOTCELL_BODY_BYTES: number; HOTCELL_STREAMS: number }) {
  const bytes = settings.HOTCELL_BODY_BYTES;
  return {
    /** Bytes that come from clients, at the speed of clients. */
    bodies: new FairShare({ limit: 'bodies', what: 'bytes of request bodies under way', total: bytes }),
    /** Bytes that are parsed and judged, at our own speed: they take several times their size. */
    work: new FairShare({ limit: 'work', what: 'bytes of requests and specs in work', total: Math.ceil(bytes / 3) }),
    /** Answers that last: streams, and waits for a result. */
    streams: new FairShare({ limit: 'streams', what: 'streams and waits open', total: settings.HOTCELL_STREAMS }),
    /** Answers that are sent in one piece: a slow reader leaves what it has not taken here. */
    answers: new FairShare({ limit: 'answers', what: 'bytes of answers under way', total: Math.ceil(bytes / 2) }),
    /** Of clients that are known. */
    connections: new FairShare({ limit: 'connections', what: 'connections open', total: connectionsAtOnce }),
    downloads: new FairShare({ limit: 'downloads', what: 'downloads under way', total: downloadsAtOnce }),
  };
}

export type Doors = ReturnType<typeof openDoors>;
