import { type Logger, pino } from 'pino';

export type { Logger };

/** One line of JSON on stderr per event. Standard output belongs to data. */
export function openLog(name: string, level: string): Logger {
  // Under each of these names an error is logged with its message, stack and causes.
  const withCauses = pino.stdSerializers.errWithCause;
  const serializers = { err: withCauses, error: withCauses, second: withCauses };
  const redact = ['*.secret', '*.secretKey', '*.password', 'authorization', '*.authorization'];
  return pino({ name, level, redact, serializers }, pino.destination(2));
}
