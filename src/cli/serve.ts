/** `holdfast serve`: runs the service until it is told to stop. */
import type { Command } from 'commander';
import type { App } from '../app.ts';
import { type Config, loadEnvFile, readConfig } from '../config.ts';
import { OperatorError } from '../errors.ts';
import { version } from '../version.ts';
import { createLog } from './log.ts';

/** How long requests and loops get to finish; after that the process ends anyway. */
const stopDeadlineMs = 12_000;

export function addServeCommand(program: Command): void {
  program
    .command('serve', { isDefault: true })
    .description('run the service: API, documentation and background work')
    .action(serve);
}

async function serve(): Promise<void> {
  loadEnvFile();
  const config = readConfig(process.env);
  const log = createLog(config.logLevel);
  // Loaded here and not above: the other commands start in half the time without it.
  const { createApp } = await import('../app.ts');
  const app = await createApp(config, log);

  let stopping = false;
  const stop = async (reason: string, exitCode: number) => {
    // npm passes a signal on that the whole group got already: the second one means nothing new.
    if (stopping) return;
    stopping = true;
    log.info({ reason }, 'stopping');
    setTimeout(() => {
      log.fatal('not everything stopped in time');
      process.exit(1);
    }, stopDeadlineMs).unref();
    await app.close().catch((error) => log.error({ err: error }, 'stopping went wrong'));
    log.info('stopped');
    process.exit(exitCode);
  };
  process.on('SIGTERM', () => void stop('SIGTERM', 0));
  process.on('SIGINT', () => void stop('SIGINT', 0));
  process.on('uncaughtException', (error) => {
    log.fatal({ err: error }, 'uncaught exception');
    void stop('uncaught exception', 1);
  });

  try {
    await listen(app, config);
  } catch (error) {
    await app.close();
    throw error;
  }
  app.loops.start();
  console.log(greeting(app, config));
}

async function listen(app: App, config: Config): Promise<void> {
  try {
    await app.server.listen({ host: config.host, port: config.port });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EADDRINUSE') {
      throw new OperatorError(
        `Port ${config.port} on ${config.host} is already in use. Stop what uses it, or set PORT to another.`,
      );
    }
    if (code === 'EACCES' || code === 'EADDRNOTAVAIL') {
      throw new OperatorError(
        `The service cannot listen on ${config.host}:${config.port} (${code}). Set HOST and PORT.`,
      );
    }
    throw error;
  }
}

function greeting(app: App, config: Config): string {
  const address = app.server.server.address();
  const port = typeof address === 'object' ? address?.port : config.port;
  const scheme = config.tls ? 'https' : 'http';
  const host = config.host.includes(':') ? `[${config.host}]` : config.host;
  const url = config.publicUrl ?? `${scheme}://${host}:${port}`;
  const lines = [
    `Holdfast ${version} is ready at ${url}`,
    `  API reference  ${url}/docs`,
    `  Data           ${config.dataDir}`,
  ];
  if (app.firstKey !== null) {
    lines.push(
      '',
      '  Your first API key, shown this once:',
      '',
      `    ${app.firstKey}`,
      '',
      '  More keys: bin/holdfast keys create --name NAME',
    );
  }
  return `\n${lines.join('\n')}\n`;
}
