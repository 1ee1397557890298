/** `holdfast verify`: checks a proof without the service and its database, and reports the result of each step. */
import { open } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import { type Command, InvalidArgumentError } from 'commander';
import type { Hex } from 'viem';
import { utf8Text } from '../proof/utf8.ts';
import type { Verification } from '../proof/verify/steps.ts';
import type { Trust } from '../proof/verify/trust.ts';
import { isAcceptableAddress } from '../runtime/address.ts';
import { isCalendarDay, isDateTime } from '../runtime/date-time.ts';
import { OperatorError } from '../runtime/errors.ts';
import { parseJsonText } from '../runtime/json-text.ts';
import { print } from './command.ts';
import { clean, historyReport, proofReport } from './verify-report.ts';

interface Options {
  rpc?: URL;
  trust?: string;
  at?: number;
  registry?: Hex;
  salt?: Hex;
  passkeys?: string;
  json?: boolean;
}

/** 1 is reserved for proofs found to be wrong; if no check took place, the code is EX_USAGE of sysexits. */
const exitCodes: Record<Verification['verdict'] | 'usage', number> = {
  pass: 0,
  fail: 1,
  incomplete: 2,
  usage: 64,
};
/** The formats that can be checked here. */
const checkedFormats: unknown[] = ['holdfast/proof@1', 'holdfast/history@1'];
/** Proofs have some kilobytes; with a larger file the user has most likely mixed up proof and content. */
const maxProofBytes = 32 * 1024 * 1024;
/** A million hashes of Bitcoin blocks have 100 MB. */
const maxTrustBytes = 128 * 1024 * 1024;
/** Ten thousand statements. */
const maxPasskeysBytes = 128 * 1024 * 1024;
/** Of a long history, those of the first proofs say enough. */
const mostHints = 6;
const maxAnswerBytes = 32 * 1024 * 1024;
const timeoutMs = 15_000;
/**
 * When the lead changes between Holdfast nodes, or a provider limits requests, the chain is available again within
 * seconds.
 */
const patience = { mostAgain: 5, longestPauseMs: 2_000 };

export function addVerifyCommand(program: Command): void {
  program
    .command('verify')
    .description('check a proof without the service and without trusting its creator')
    .argument('<proof>', 'the proof, a JSON file; - for standard input')
    .argument('[content]', "the file that the proof is for, or a record's data as JSON; - for standard input")
    .option('--rpc <url>', 'a node of the chain that the proof is anchored on', parseRpc)
    .option(
      '--trust <file>',
      'whom to trust, and which certificates are revoked: a JSON file, instead of the trust that ships',
    )
    .option('--at <time>', 'judge as of this time or date: what is later counts as absent', parseAt)
    .option('--registry <address>', 'address of the registry, if not the usual one', parseRegistry)
    .option('--salt <hex>', 'the 32-byte key of an HMAC, if it is not in the proof', parseSalt)
    .option('--passkeys <file>', 'what was anchored of the passkeys of workers, for a sign-off')
    .option('--json', 'print {verdict, summary, vouchers, steps}')
    .addHelpText(
      'after',
      `
Exit code 0, PASS: the proof holds, and somebody who is trusted vouches for its time. 1, FAIL: something contradicts it, or it
is malformed. 2, INCOMPLETE: nothing contradicts it, but something needed could not be checked. 64: wrong usage, a file that
cannot be read or used, or JSON that is not a proof.`,
    )
    .exitOverride(({ exitCode }) => process.exit(exitCode === 0 ? 0 : exitCodes.usage))
    .action(async (proof: string, content: string | undefined, options: Options) => {
      try {
        process.exitCode = exitCodes[await verify(proof, content, options)];
      } catch (error) {
        const ours = error instanceof OperatorError;
        console.error(ours ? error.message : error);
        process.exitCode = ours ? exitCodes.usage : exitCodes.incomplete;
      }
    });
}

async function verify(
  proofPath: string,
  contentPath: string | undefined,
  options: Options,
): Promise<Verification['verdict']> {
  const { passkeys: passkeysPath } = options;
  if ([proofPath, contentPath, options.trust, passkeysPath].filter((path) => path === '-').length > 1) {
    throw new OperatorError('Only one of the files can come from standard input.');
  }
  if (passkeysPath !== undefined && contentPath === undefined) {
    throw new OperatorError('--passkeys is for a sign-off: give that as the content.');
  }
  const document = await readText(proofPath, { what: 'proof', most: maxProofBytes });
  requireProof(document, proofPath);
  const trust = await readTrustFile(options.trust);
  const passkeys =
    passkeysPath === undefined
      ? undefined
      : await readText(passkeysPath, { what: 'file of statements', most: maxPasskeysBytes });
  const content = contentPath === undefined ? undefined : await openContent(contentPath);
  // Imported here so that other commands start faster.
  const [{ verifyProof }, { historyFormat, verifyHistory }, registry, { hintsFor }, { parseProof }] =
    await Promise.all([
      import('../proof/verify/verify.ts'),
      import('../proof/verify/history.ts'),
      import('../chain/registry/registry.ts'),
      import('./verify-hints.ts'),
      import('../proof/verify/proof.ts'),
    ]);
  const { registryAddress, registryCodeHash } = registry;
  const chain = options.rpc && (await connect(options.rpc));
  const given = {
    ...{ trust, chain: chain?.reader },
    ...(options.at === undefined ? {} : { at: options.at }),
    registry: { address: options.registry ?? registryAddress, codeHash: registryCodeHash },
  };
  const about = {
    trust,
    at: options.at ?? Date.now(),
    hasContent: content !== undefined,
    hasNode: chain !== undefined,
    hasPasskeys: passkeys !== undefined,
  };
  const value = parsed(document);
  try {
    if (formatOf(value) === historyFormat) {
      if (content)
        throw new OperatorError(
          'A history is checked without content. To check content, verify its proofs one by one.',
        );
      const result = await verifyHistory(document, given);
      const hints = ['Verify its proofs one by one with their content to compare the digests.'];
      for (const [place, proof] of result.proofs.entries()) {
        const read = parseProof((value as { proofs: unknown[] }).proofs[place]).proof;
        if (read && hints.length < mostHints) {
          hints.push(...(await hintsFor(read, proof, { ...about, hasContent: true })));
        }
      }
      print(options, result, historyReport(result, [...new Set(hints)]));
      return result.verdict;
    }
    const result = await verifyProof(document, { ...given, content, salt: options.salt, passkeys });
    const { proof } = parseProof(value);
    print(options, result, proofReport(result, proof ? await hintsFor(proof, result, about) : []));
    return result.verdict;
  } catch (error) {
    throw explained(error, contentPath ?? '');
  } finally {
    content?.destroy();
    await chain?.close();
  }
}

async function readTrustFile(path: string | undefined): Promise<Trust> {
  const { readTrust, shippedTrust } = await import('../proof/verify/trust.ts');
  if (path === undefined) return shippedTrust;
  const text = await readText(path, { what: 'trust file', most: maxTrustBytes });
  try {
    return readTrust(parseJsonText(text));
  } catch (error) {
    throw new OperatorError(
      `${nameOf(path)} cannot be used as a trust file: ${clean((error as Error).message)}`,
    );
  }
}

async function connect(url: URL) {
  const [{ createJsonRpc }, { createAnchorReader }, { askAgain }] = await Promise.all([
    import('../chain/rpc/json-rpc.ts'),
    import('../chain/registry/anchor-reader.ts'),
    import('../chain/rules/not-now.ts'),
  ]);
  const rpc = createJsonRpc({ timeoutMs, maxAnswerBytes });
  const call = askAgain((method, params) => rpc.call(url.href, method, params), patience);
  const reader = createAnchorReader(call);
  return { reader, close: () => rpc.close() };
}

/** Undefined for invalid JSON: that may be a truncated proof, and fails as such. */
function parsed(document: string): unknown {
  try {
    return JSON.parse(document);
  } catch {
    return undefined;
  }
}

function formatOf(value: unknown): unknown {
  return (value as { format?: unknown } | null | undefined)?.format;
}

/** A file that is not a proof is a usage error, not a failed proof. */
function requireProof(document: string, path: string): void {
  const value = parsed(document);
  const format = formatOf(value);
  if (value === undefined || checkedFormats.includes(format)) return;
  const found = typeof format === 'string' ? `its format is ${clean(format)}` : 'it has no format';
  throw new OperatorError(
    `${nameOf(path)} is not a proof: ${found}, but a proof has holdfast/proof@1. Give the proof first, then the content.`,
  );
}

async function readText(path: string, { what, most }: { what: string; most: number }): Promise<string> {
  const pieces: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const piece of await openContent(path)) {
      pieces.push(piece);
      bytes += piece.length;
      if (bytes > most) throw new OperatorError(`${nameOf(path)} is too large to be a ${what}.`);
    }
  } catch (error) {
    throw explained(error, path);
  }
  try {
    return utf8Text(Buffer.concat(pieces));
  } catch {
    throw new OperatorError(`${nameOf(path)} is not a ${what}: it is not text in UTF-8.`);
  }
}

/** Opened early, so that a wrong name is reported before anything is checked. */
async function openContent(path: string): Promise<Readable> {
  if (path === '-') return process.stdin;
  try {
    const handle = await open(path);
    return handle.createReadStream();
  } catch (error) {
    throw explained(error, path);
  }
}

function explained(error: unknown, path: string): unknown {
  const { code, syscall } = error as NodeJS.ErrnoException;
  if (syscall === undefined || code === undefined) return error;
  const reason: Record<string, string> = {
    ENOENT: 'there is no such file',
    EISDIR: 'it is a directory',
    EACCES: 'permission denied',
  };
  return new OperatorError(`${nameOf(path)} cannot be read: ${reason[code] ?? code}.`);
}

function nameOf(path: string): string {
  return path === '-' ? 'Standard input' : clean(path);
}

function parseRpc(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (!url || !/^https?:$/.test(url.protocol)) {
    throw new InvalidArgumentError('Give an http or https address, such as http://127.0.0.1:8545.');
  }
  return url;
}

/** A date means its first moment in UTC. */
function parseAt(text: string): number {
  if (isCalendarDay(text) || isDateTime(text)) return Date.parse(text);
  throw new InvalidArgumentError('Give a date such as 2046-01-31, or a time such as 2046-01-31T12:00:00Z.');
}

function parseRegistry(text: string): Hex {
  if (!isAcceptableAddress(text)) {
    throw new InvalidArgumentError(
      'Give 0x followed by 40 hex digits; mixed case must have a correct EIP-55 checksum.',
    );
  }
  return text.toLowerCase() as Hex;
}

function parseSalt(text: string): Hex {
  const [, digits] = /^(?:0x)?([0-9a-f]{64})$/i.exec(text) ?? [];
  if (digits === undefined) throw new InvalidArgumentError('A salt is 32 bytes: 64 hex digits.');
  return `0x${digits.toLowerCase()}`;
}
