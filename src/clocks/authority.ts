/**
 * Asks a timestamp authority for one token, and judges it rule by rule before anybody stores it, so that an odd authority
 * fails when it is configured and not when somebody needs the evidence.
 */
import { randomBytes } from 'node:crypto';
import { fittingCrls, mostCrlBytes } from '../anchoring/evidence/timestamp-files.ts';
import { type GuardedRequests, isLocalUrl, RequestFault } from '../egress/guarded-request.ts';
import type { TrustAnchor } from '../proof/rfc3161/certificates.ts';
import { readTimestampResponse, timestampRequest } from '../proof/rfc3161/exchange.ts';
import { type JudgedTimestamp, judgeTimestamp } from '../proof/rfc3161/judge.ts';
import { judgeWithLists } from './judge-thread.ts';
import type { FetchOptions, PublishedFiles } from './published-files.ts';
import { anchorOf, findCertificates, findCrls } from './token-files.ts';

export interface RuleOutcome {
  rule: 'answer' | 'grant' | 'token' | 'nonce' | 'time' | 'path' | 'revocation' | 'validity';
  outcome: 'pass' | 'fail' | 'skip';
  /** A sentence or two. */
  message: string;
  /** What to do about a failure. */
  advice?: string;
}

/** A token that has passed every rule, and what is stored with it. */
export interface Stamp {
  token: Buffer;
  certificates: Buffer[];
  crls: Buffer[];
  judged: JudgedTimestamp;
}

export interface Attempt {
  /** In their order; the first failure is the last rule. */
  rules: RuleOutcome[];
  stamp: Stamp | null;
}

/** `imprint`: 32 bytes, the SHA-256 of what is stamped. Never fails because of the authority. */
export type AskAuthority = (url: string, imprint: Uint8Array, signal?: AbortSignal) => Promise<Attempt>;

export interface AuthorityDeps {
  requests: GuardedRequests;
  files: PublishedFiles;
  /** Those that ship, or the operator's. */
  roots: Roots;
  /** Milliseconds since 1970. */
  now(): number;
  timeoutMs?: number;
}

export interface Roots {
  anchors: readonly TrustAnchor[];
  /** Null: those that ship. */
  file: string | null;
}

const maxAnswerBytes = 262_144;
/** A clock that differs more from ours is wrong, or ours is. */
const mostApartMs = 300_000;
const dayMs = 86_400_000;

export function createAskAuthority(deps: AuthorityDeps): AskAuthority {
  return async (url, imprint, signal) => {
    const attempt: Attempt = { rules: [], stamp: null };
    try {
      attempt.stamp = await ask(deps, { url, imprint, signal, rules: attempt.rules });
    } catch (error) {
      if (!(error instanceof RuleFault)) throw error;
      attempt.rules.push(error.outcome);
    }
    return attempt;
  };
}

/** Why an attempt gave no token, in words for a log; null when it gave one. */
export function faultOf({ rules }: Attempt): string | null {
  const failed = rules.find(({ outcome }) => outcome === 'fail');
  return failed ? [failed.message, failed.advice].join(' ').trim() : null;
}

class RuleFault extends Error {
  readonly outcome: RuleOutcome;
  constructor(rule: RuleOutcome['rule'], message: string, advice: string) {
    super(message);
    this.outcome = { rule, outcome: 'fail', message, advice };
  }
}

interface Question {
  url: string;
  imprint: Uint8Array;
  signal: AbortSignal | undefined;
  rules: RuleOutcome[];
}

const theirs = 'Nothing was stored. Tell the operator of the authority, or use another one.';

async function ask(deps: AuthorityDeps, question: Question): Promise<Stamp> {
  const { imprint, signal, rules } = question;
  const pass = (rule: RuleOutcome['rule'], message: string) => rules.push({ rule, outcome: 'pass', message });
  const nonce = BigInt(`0x${randomBytes(8).toString('hex')}`);
  const token = await exchange(deps, question, nonce);
  const { anchors } = deps.roots;
  const options: FetchOptions = { isLocal: isLocalUrl(question.url), signal };
  const search = { files: deps.files, roots: anchors, options };

  const bare = anchorOf({ token, certificates: [], crls: [] });
  const nobody = { roots: [], policies: [] };
  const at = deps.now();
  const alone = await judgeTimestamp(bare, { imprint, trust: nobody, at });
  if (alone.status === 'fail') throw new RuleFault('token', alone.reason, theirs);
  const { signer, time, accuracyMs } = alone;
  if (signer === undefined || time === undefined || accuracyMs === undefined) {
    const reason = 'reason' in alone ? alone.reason : '';
    throw new RuleFault(
      'token',
      reason,
      'The authority has to send its certificate when it is asked for it.',
    );
  }
  pass(
    'token',
    `The token is about what was sent, and signed by ${signer.name}, whose certificate is for timestamps alone.`,
  );
  const asked = await judgeTimestamp(bare, { imprint, trust: nobody, at, nonce });
  if (asked.status === 'fail') throw new RuleFault('nonce', asked.reason, theirs);
  pass('nonce', 'The token has the random number of the request, so that it was made for it.');
  checkTime(time, accuracyMs, at);
  pass('time', `The token says ${tell(time)}${accuracyMs > 0 ? `, give or take ${accuracyMs} ms` : ''}.`);

  const trust = { roots: anchors, policies: [] };
  // The clock of the authority may be a little ahead of ours.
  const given = { imprint, trust, at: Math.max(at, time), nonce };
  const { certificates, faults } = await findCertificates(search, token);
  const led = await judgeTimestamp(anchorOf({ token, certificates, crls: [] }), given);
  if (led.status !== 'pass') {
    const advice =
      led.status === 'untrusted'
        ? 'If you trust this authority, get the certificate of its root, compare the fingerprint with one from another source, and put it into the file of HOLDFAST_TSA_ROOTS.'
        : theirs;
    throw new RuleFault('path', [led.reason, ...faults].join(' '), advice);
  }
  const { file } = deps.roots;
  pass(
    'path',
    `Its certificates lead to the root ${led.root.name}, ${file === null ? 'which ships with Holdfast' : `which is in ${file}`} (SHA-256 ${led.root.fingerprint}).`,
  );

  const { crls, missing } = await findCrls(search, anchorOf({ token, certificates, crls: [] }));
  const judged = await judgeWithLists(anchorOf({ token, certificates, crls }), given);
  if (judged.status !== 'pass') {
    throw new RuleFault('revocation', judged.reason, 'Nothing was stored. Use another authority.');
  }
  // Larger lists were checked just now; they would be in every proof.
  const kept = fittingCrls(crls, mostCrlBytes.perToken);
  const left = crls.length - kept.length;
  if (judged.revocation === 'checked') {
    const large =
      left > 0 ? ` ${left} of ${crls.length} lists are too large for proofs, and are not stored.` : '';
    pass('revocation', `No certificate is on the lists of revoked ones.${large}`);
  } else {
    const why = missing.length > 0 ? missing : ['The lists that were found are not about its certificates.'];
    rules.push({ rule: 'revocation', outcome: 'skip', message: `Not checked. ${why.join(' ')}` });
  }
  const days = Math.floor((judged.validUntil - at) / dayMs);
  pass('validity', `The first of its certificates ends on ${tell(judged.validUntil)}, in ${days} days.`);
  const bytes = (files: Uint8Array[]) => files.map((file) => Buffer.from(file));
  return { token: Buffer.from(token), certificates: bytes(certificates), crls: bytes(kept), judged };
}

async function exchange(
  { requests, now, timeoutMs = 15_000 }: AuthorityDeps,
  { url, imprint, signal, rules }: Question,
  nonce: bigint,
): Promise<Uint8Array> {
  const startedAt = now();
  const answer = await requests
    .send({
      url,
      method: 'POST',
      headers: { 'content-type': 'application/timestamp-query', accept: 'application/timestamp-reply' },
      body: timestampRequest({ imprint, nonce, certReq: true }),
      timeoutMs,
      maxBytes: maxAnswerBytes,
      isLocal: isLocalUrl(url),
      signal,
    })
    .catch((error: unknown) => {
      if (!(error instanceof RequestFault)) throw error;
      throw new RuleFault(
        'answer',
        `The authority ${error.message}.`,
        'Check its address, and whether it is in service; a private address has to be listed in HOLDFAST_WEBHOOK_ALLOW.',
      );
    });
  const { bytes, contentType } = answer;
  const message = `The authority answered in ${Math.round(now() - startedAt)} ms with ${bytes.length} bytes.`;
  rules.push({ rule: 'answer', outcome: 'pass', message });
  const read = readTimestampResponse(bytes);
  if ('refusal' in read) {
    const type =
      contentType === 'application/timestamp-reply' ? '' : ` It is ${contentType || 'of no type'}.`;
    throw new RuleFault(
      'grant',
      `${read.refusal}${type}`,
      'Check that the address is that of a timestamp authority (RFC 3161) and that it serves you.',
    );
  }
  const granted = `The authority granted the request with a token of ${read.token.length} bytes.`;
  rules.push({ rule: 'grant', outcome: 'pass', message: granted });
  return read.token;
}

function checkTime(time: number, accuracyMs: number, now: number): void {
  if (accuracyMs > mostApartMs) {
    const told = `The token is right to ${accuracyMs / 1000} s only, which is more than five minutes.`;
    throw new RuleFault('time', told, 'Use another authority.');
  }
  if (Math.abs(now - time) <= mostApartMs) return;
  throw new RuleFault(
    'time',
    `The token says ${tell(time)}, but this machine ${tell(now)}.`,
    'Set the clock of this machine, or use another authority.',
  );
}

function tell(time: number): string {
  return new Date(time).toISOString();
}
