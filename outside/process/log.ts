import { type Logger, pino } from 'pino';

export type { Logger };

/** One line of JSON on stderr per event. Standard output belongs to data. */
export function openLog(name: string, level: string): Logger {
  // Whatever an error is called in a row, its message, stack and causes are told.
  const told = pino.stdSerializers.errWithCause;
  const serializers = { err: told, error: told, second: told };
  const redact = ['*.secret', '*.secretKey', '*.password', 'authorization', '*.authorization'];
  return pino({ name, level, redact, serializers }, pino.destination(2));
}
