/** `holdfast login`, `logout` and `profiles`: services and keys that other commands then use. */
import { type Command, InvalidArgumentError } from 'commander';
import { OperatorError } from '../runtime/errors.ts';
import { print, table } from './command.ts';
import { explainAnswer, parseServiceUrl, request } from './connection.ts';
import { askHidden } from './passphrase.ts';
import { profileName, profilesFile, readProfiles, writeProfiles } from './profiles.ts';

interface LoginOptions {
  url: string;
  profile: string;
  default?: boolean;
  json?: boolean;
}

const timeoutMs = 15_000;
const usualName = 'default';

export function addLoginCommands(program: Command): void {
  program
    .command('login')
    .description('save the address of a service and an API key for it, under a name')
    .requiredOption('--url <url>', 'address of the service', parseServiceUrl)
    .option('--profile <name>', 'name to save them under', parseName, usualName)
    .option('--default', 'use this profile when none is named; the first one is used anyway')
    .option('--json', 'print {profile, url, default, file}')
    .addHelpText(
      'after',
      `
The key comes from HOLDFAST_API_KEY, from standard input, or is typed without being shown. It is tried before it is saved.`,
    )
    .action(logIn);

  program
    .command('logout')
    .description('delete a saved key; the key itself stays valid until it is revoked')
    .option('--profile <name>', 'name that it was saved under', parseName, usualName)
    .option('--json', 'print {profile}')
    .action(async (options: { profile: string; json?: boolean }) => {
      const { default: usual, profiles } = await readProfiles();
      const { [options.profile]: found, ...rest } = profiles;
      if (found === undefined) throw new OperatorError(`There is no profile ${options.profile}.`);
      await writeProfiles({ default: usual === options.profile ? null : usual, profiles: rest });
      print(options, { profile: options.profile }, `The profile ${options.profile} is deleted.`);
    });

  program
    .command('profiles')
    .description('list the services that were saved with "holdfast login"')
    .option('--json', 'print an array')
    .action(async (options: { json?: boolean }) => {
      const { default: usual, profiles } = await readProfiles();
      const all = Object.entries(profiles).map(([profile, { url, key }]) => ({
        ...{ profile, url, key: keyStart(key), default: profile === usual },
      }));
      const rows = all.map(({ profile, url, key, ...one }) => [profile, url, key, one.default ? 'yes' : '']);
      print(options, all, table(['PROFILE', 'URL', 'KEY', 'DEFAULT'], rows));
    });
}

async function logIn(options: LoginOptions): Promise<void> {
  const { url, profile } = options;
  // First: a file that cannot be used is better reported before the key is typed.
  const { default: usual, profiles } = await readProfiles();
  const key = await readKey();
  const note = await tryKey(url, key);
  const isDefault = options.default || usual === null || usual === profile;
  await writeProfiles({
    default: isDefault ? profile : usual,
    profiles: { ...profiles, [profile]: { url, key } },
  });
  const file = profilesFile();
  print(
    options,
    { profile, url, default: isDefault, file },
    `Saved as profile ${profile} in ${file}.${note ? `\n${note}` : ''}`,
  );
}

async function readKey(): Promise<string> {
  const { HOLDFAST_API_KEY: given = '' } = process.env;
  const key = given || (process.stdin.isTTY ? await askHidden('API key: ') : await firstLine());
  if (!/^[\w-]{1,200}$/.test(key)) throw new OperatorError('That is no API key: it begins with hf_live_.');
  return key;
}

async function firstLine(): Promise<string> {
  let text = '';
  for await (const chunk of process.stdin.setEncoding('utf8')) {
    text += chunk;
    if (text.length > 1_000) break;
  }
  return text.trim();
}

/** Returns a remark, if there is one. */
async function tryKey(url: string, key: string): Promise<string | null> {
  const answer = await request({ url, key }, '/platform/events?limit=1', {
    signal: AbortSignal.timeout(timeoutMs),
  }).catch((error: Error & { cause?: { code?: string; message?: string } }) => {
    throw new OperatorError(
      `${url} cannot be reached: ${error.cause?.code ?? error.cause?.message ?? error.message}.`,
    );
  });
  if (answer.ok && answer.headers.has('x-next-cursor')) {
    await answer.body?.cancel();
    return null;
  }
  if (answer.ok) throw new OperatorError(`${url} is not a Holdfast service.`);
  const why = await explainAnswer(answer);
  if (answer.status === 403) return `The key is valid, but "holdfast listen" needs more: ${why}`;
  throw new OperatorError(why);
}

/** As much as lists of keys show. */
const keyStart = (key: string) => `${key.slice(0, 12)}…`;

function parseName(text: string): string {
  if (!profileName.test(text) || Object.hasOwn(Object.prototype, text))
    throw new InvalidArgumentError('Give a name of letters, digits, dots, dashes and underscores.');
  return text;
}
