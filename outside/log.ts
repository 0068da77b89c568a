import { type Logger, pino } from 'pino';

export type { Logger };

/** One line of JSON on stderr per event. Standard output belongs to data. */
export function openLog(name: string, level: string): Logger {
  return pino(
    { name, level, redact: ['*.secret', '*.secretKey', '*.password', 'authorization', '*.authorization'] },
    pino.destination(2),
  );
}
