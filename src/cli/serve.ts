/** `holdfast serve`: runs the service until it is stopped. */
import { once } from 'node:events';
import { createServer } from 'node:net';
import type { Command } from 'commander';
import type { Logger } from 'pino';
import type { App } from '../app/app.ts';
import type { Config } from '../config/config.ts';
import { OperatorError } from '../runtime/errors.ts';
import { version } from '../runtime/version.ts';
import { placeSecrets } from './first-secrets.ts';
import { createLog } from './log.ts';
import { readSettings } from './settings.ts';
import { unknownCommand } from './unknown-command.ts';

/** How long requests and loops may take to finish; after that the process exits anyway. */
export const stopDeadlineMs = 12_000;

export function addServeCommand(program: Command): void {
  program
    .command('serve', { isDefault: true })
    .description('run the service: API, documentation and background work')
    .argument('[command...]')
    .allowUnknownOption()
    .action((given: string[]) => {
      // The default command receives every unknown command name, with its arguments and options.
      const [unknown] = given.filter((one) => !one.startsWith('-'));
      if (unknown !== undefined) throw unknownCommand(unknown, program);
      if (given[0] !== undefined)
        throw new OperatorError(`There is no option ${given[0].slice(0, 100)}. See "holdfast --help".`);
      return serve();
    });
}

async function serve(): Promise<void> {
  const unknown: string[] = [];
  const config = readSettings((sentence) => unknown.push(sentence));
  const log = createLog(config.logLevel);
  for (const sentence of unknown) log.warn(sentence);
  await tryPort(config);
  // Imported here because other commands start in half the time without it.
  const { createApp } = await import('../app/app.ts');
  const starting = createApp(config, log);
  stopOnSignals(starting, log);

  const app = await starting;
  try {
    await listen(app, config);
    app.loops.start();
    const firstKey = config.roles.api ? await app.makeFirstKey() : null;
    const ownerLink = config.roles.api ? await app.makeOwnerLink() : null;
    const shown = await placeSecrets({ firstKey, ownerLink }, config.dataDir, process.stdout.isTTY === true);
    console.log(greeting(app.server.publicUrl(), config, shown));
  } catch (error) {
    await app.close();
    throw error;
  }
}

/**
 * Handles signals from the first moment: an interrupted start is finished and then undone, so that nothing is left
 * running.
 */
function stopOnSignals(starting: Promise<App>, log: Logger): void {
  let stopping = false;
  const stop = async (reason: string, exitCode: number) => {
    // npm forwards a signal that the whole group already received: ignore the second one.
    if (stopping) return;
    stopping = true;
    log.info({ reason }, 'stopping');
    setTimeout(() => {
      log.fatal('shutdown timed out');
      process.exit(1);
    }, stopDeadlineMs).unref();
    try {
      const app = await starting;
      await app.close();
      log.info('stopped');
    } catch (error) {
      log.error({ err: error }, 'shutdown failed');
    }
    process.exit(exitCode);
  };
  process.on('SIGTERM', () => void stop('SIGTERM', 0));
  process.on('SIGINT', () => void stop('SIGINT', 0));
  process.on('uncaughtException', (error) => {
    log.fatal({ err: error }, 'uncaught exception');
    void stop('uncaught exception', 1);
  });
}

/** Called before anything is created: a start that cannot listen must leave nothing behind. */
async function tryPort(config: Config): Promise<void> {
  const { host, port } = config;
  const trial = createServer();
  try {
    await once(trial.listen({ host, port }), 'listening');
  } catch (error) {
    throw explainListening(error, config);
  }
  trial.close();
  await once(trial, 'close');
}

async function listen(app: App, config: Config): Promise<void> {
  const { host, port } = config;
  try {
    await app.server.http.listen({ host, port });
  } catch (error) {
    throw explainListening(error, config);
  }
}

function explainListening(error: unknown, { host, port }: Config): unknown {
  const { code } = error as NodeJS.ErrnoException;
  if (code === 'EADDRINUSE') {
    return new OperatorError(
      `Port ${port} on ${host} is already in use. Stop what uses it, or set PORT to another.`,
    );
  }
  if (['EACCES', 'EADDRNOTAVAIL', 'ENOTFOUND', 'EAI_AGAIN'].includes(code ?? '')) {
    return new OperatorError(`The service cannot listen on ${host}:${port} (${code}). Set HOST and PORT.`);
  }
  return error;
}

interface Greeted {
  firstKey: string | null;
  ownerLink: string | null;
}

function greeting(url: string, config: Config, { firstKey, ownerLink }: Greeted): string {
  const lines = [
    `Holdfast ${version} is ready at ${url}`,
    `  Dashboard      ${url}/`,
    `  Documentation  ${url}/docs/`,
    `  Verify proofs  ${url}/verify`,
    `  Data           ${config.dataDir}`,
  ];
  if (firstKey !== null) {
    lines.push(
      '',
      '  Your first API key, shown only once:',
      '',
      `    ${firstKey}`,
      '',
      '  More keys: bin/holdfast keys create --name NAME',
    );
  }
  if (ownerLink !== null) {
    lines.push(
      '',
      '  This installation has no owner yet. Open this one-time link to become its owner:',
      '',
      `    ${ownerLink}`,
    );
  }
  return `\n${lines.join('\n')}\n`;
}
