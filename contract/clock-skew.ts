/** How far the clocks of two hosts may differ. */
export const clockSkewMs = 5 * 60_000;
