/** `holdfast timestamps test`: makes one request to a timestamp authority, and shows what each rule says of its token. */
import { createHash, randomBytes } from 'node:crypto';
import { type Command, InvalidArgumentError } from 'commander';
import type { Attempt, RuleOutcome } from '../clocks/authority.ts';
import { serverUrl } from '../config/clock-settings.ts';
import { print } from './command.ts';
import { readSettings } from './settings.ts';

interface Options {
  roots?: string;
  json?: boolean;
}

export function addTimestampsCommands(program: Command): void {
  const timestamps = program.command('timestamps').description('test timestamp authorities');
  timestamps
    .command('test')
    .description('ask an authority for one token of random bytes, and show what each rule says of it')
    .argument('<url>', 'address of the authority: https, or http on this machine', parseUrl)
    .option(
      '--roots <file>',
      'PEM file with the roots to trust (default: HOLDFAST_TSA_ROOTS, else those that ship)',
    )
    .option('--json', 'print {url, passed, rules, token}')
    .addHelpText(
      'after',
      `
Nothing is stored, and no installation is needed. Exit code 0: the service would use the authority. 1: it would not.`,
    )
    .action(async (url: string, options: Options) => {
      const attempt = await ask(url, options);
      const passed = attempt.stamp !== null;
      const document = { url, passed, rules: attempt.rules, token: tokenOf(attempt) };
      print(options, document, report(url, attempt));
      process.exitCode = passed ? 0 : 1;
    });
}

async function ask(url: string, options: Options): Promise<Attempt> {
  // Imported here so that other commands start faster.
  const [{ createAskAuthority }, { createGuardedRequests }, { createPublishedFiles }, { readRoots }] =
    await Promise.all([
      import('../clocks/authority.ts'),
      import('../egress/guarded-request.ts'),
      import('../clocks/published-files.ts'),
      import('../clocks/roots.ts'),
    ]);
  const { clocks, webhooks } = readSettings(console.error);
  const roots = readRoots(options.roots ?? clocks.rootsFile);
  const requests = createGuardedRequests({ allow: webhooks.allow });
  const now = () => Date.now();
  try {
    const files = createPublishedFiles({ requests, now });
    const imprint = createHash('sha256').update(randomBytes(32)).digest();
    return await createAskAuthority({ requests, files, roots, now })(url, imprint);
  } finally {
    await requests.close();
  }
}

/** What a script may want to look at. */
function tokenOf({ stamp }: Attempt) {
  if (!stamp) return null;
  const { time, accuracyMs, policy, signer, validUntil, root, revocation } = stamp.judged;
  return {
    time: new Date(time).toISOString(),
    accuracyMs,
    policy,
    signer: signer.name,
    validUntil: new Date(validUntil).toISOString(),
    root,
    revocation,
    bytes: stamp.token.length,
    certificatesFetched: stamp.certificates.length,
    crls: stamp.crls.length,
  };
}

/** In the order in which they are checked. */
const ruleNames: Record<RuleOutcome['rule'], string> = {
  answer: 'Answer',
  grant: 'Request granted',
  token: 'Token',
  nonce: 'Nonce',
  time: 'Time',
  path: 'Certificates',
  revocation: 'Revocation',
  validity: 'Validity',
};

const signs = { pass: 'passed', fail: 'FAILED', skip: 'skipped' };

function report(url: string, { rules, stamp }: Attempt): string {
  const untested = Object.keys(ruleNames).length - rules.length;
  const lines = rules.flatMap(({ rule, outcome, message, advice }) => [
    `${ruleNames[rule].padEnd(16)} ${signs[outcome].padEnd(8)} ${message}`,
    ...(advice === undefined ? [] : [`${' '.repeat(25)} ${advice}`]),
  ]);
  const verdict = stamp
    ? `The service would store this token. Add ${url} to HOLDFAST_TSA_URLS to have batches stamped.`
    : `The service would not store this token.${untested > 0 ? ` ${untested} more rules were not tested.` : ''}`;
  return [...lines, '', verdict].join('\n');
}

function parseUrl(text: string): string {
  const url = serverUrl(text);
  if (url === null) {
    throw new InvalidArgumentError(
      'Give an https address, or an http address on this machine, without user name, password and fragment.',
    );
  }
  return url;
}
