/** How far a wait is. */
export interface Progress {
  /** It grows with each message, as the protocol asks. */
  waited: number;
  of: number;
  message: string;
}

export type TellProgress = (progress: Progress) => Promise<void>;

interface Waiting<View> {
  seconds: number;
  /** Undefined: the client did not ask for progress. */
  tell: TellProgress | undefined;
  /** Asks once, and waits so long for the end. */
  ask: (seconds: number) => Promise<View>;
  isOver: (view: View) => boolean;
  says: (view: View) => string;
  now?: () => number;
}

// Short ones first: most runs end soon. A wait of a minute takes about ten requests of the caller's rate.
const firstSliceSeconds = 1;
const longestSliceSeconds = 8;

/** One wait, or for a client that asked for progress several in a row with a message behind each. */
export async function waitTelling<View>(waiting: Waiting<View>): Promise<View> {
  const { seconds, tell, ask, isOver, says, now = () => performance.now() } = waiting;
  if (!tell) return await ask(seconds);
  const began = now();
  let told = 0;
  for (let slice = firstSliceSeconds; ; slice = Math.min(slice * 2, longestSliceSeconds)) {
    const left = seconds - told;
    const asked = Math.min(slice, left);
    const view = await ask(asked);
    const waited = Math.floor((now() - began) / 1000);
    // An answer before its time: there is no room for a wait, and to ask again at once would only take more of it.
    if (isOver(view) || asked >= left || waited < told + asked) return view;
    told = waited;
    if (told >= seconds) return view;
    await tell({ waited, of: seconds, message: says(view) });
  }
}
