/** The log: JSON lines on standard error, so that standard output contains only what a command prints. */
import { type Logger, pino } from 'pino';
import type { LogLevel } from '../config/node-settings.ts';

export function createLog(level: LogLevel): Logger {
  return pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      // Nothing logs headers on purpose; this guards against a future mistake.
      redact: ['req.headers', 'headers', '*.password', '*.connectionString'],
    },
    pino.destination({ dest: 2, sync: true }),
  );
}
