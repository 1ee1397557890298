/** A rule that a timestamp can break: one that breaks it, and the same one that does not. */
import type { TimestampAnchor } from '../../../src/proof/rfc3161/anchor.ts';
import {
  judgeTimestamp,
  type TimestampJudgement,
  type TimestampQuestion,
} from '../../../src/proof/rfc3161/judge.ts';
import type { Bytes } from './der-writer.ts';
import {
  type AuthorityOptions,
  createTestAuthority,
  judgedAt,
  stampedImprint,
  type TestAuthority,
} from './test-authority.ts';
import type { TokenOptions } from './test-token.ts';

export interface FaultCase {
  name: string;
  status: 'fail' | 'untrusted' | 'expired';
  reason: RegExp;
  make(isFaulty: boolean): MadeCase;
}

export interface MadeCase {
  anchor: TimestampAnchor;
  question: TimestampQuestion;
}

export function judgeCase({ anchor, question }: MadeCase): Promise<TimestampJudgement> {
  return judgeTimestamp(anchor, question);
}

/** Changes, possibly with what this authority has made. */
type Changes<Options> = Partial<Options> | ((authority: TestAuthority) => Partial<Options>);

/** A fault of the token itself; `sound` is what the good one has in its place. */
export function tokenFault(
  name: string,
  reason: RegExp,
  {
    faulty,
    sound = {},
    authority: options = {},
    question = {},
  }: {
    faulty: Changes<TokenOptions>;
    sound?: Changes<TokenOptions>;
    authority?: AuthorityOptions;
    question?: Changes<TimestampQuestion>;
  },
): FaultCase {
  return {
    ...{ name, reason, status: 'fail' },
    make(isFaulty) {
      const authority = createTestAuthority(options);
      const token = authority.stamp(changesFor(authority, isFaulty ? faulty : sound));
      return { anchor: authority.anchor(token), question: questionFor(authority, question) };
    },
  };
}

/** A fault in how the finished token is encoded. */
export function encodingFault(name: string, reason: RegExp, edit: (token: Bytes) => Bytes): FaultCase {
  return {
    ...{ name, reason, status: 'fail' },
    make(isFaulty) {
      const authority = createTestAuthority();
      const token = authority.stamp();
      return { anchor: authority.anchor(isFaulty ? edit(token) : token), question: questionFor(authority) };
    },
  };
}

/** A fault of one of the certificates, or of what is known of them. */
export function certificateFault(
  name: string,
  reason: RegExp,
  {
    faulty,
    sound = {},
    status = 'fail',
    token = {},
    question = {},
  }: {
    faulty: AuthorityOptions;
    sound?: AuthorityOptions;
    status?: FaultCase['status'];
    token?: Changes<TokenOptions>;
    question?: Changes<TimestampQuestion>;
  },
): FaultCase {
  return {
    ...{ name, reason, status },
    make(isFaulty) {
      const authority = createTestAuthority(isFaulty ? faulty : sound);
      const stamped = authority.stamp(changesFor(authority, token));
      return { anchor: authority.anchor(stamped), question: questionFor(authority, question) };
    },
  };
}

/** A fault of what is beside the token, or of the question. */
export function anchorFault(
  name: string,
  reason: RegExp,
  {
    status = 'fail',
    make,
  }: {
    status?: FaultCase['status'];
    make: (
      authority: TestAuthority,
      isFaulty: boolean,
    ) => { anchor?: TimestampAnchor; question?: Partial<TimestampQuestion> };
  },
): FaultCase {
  return {
    ...{ name, reason, status },
    make(isFaulty) {
      const authority = createTestAuthority();
      const { anchor = authority.anchor(), question = {} } = make(authority, isFaulty);
      return { anchor, question: questionFor(authority, question) };
    },
  };
}

/** Asks about the usual imprint, trusting the root of this authority. */
export function questionFor(
  authority: TestAuthority,
  changes: Changes<TimestampQuestion> = {},
): TimestampQuestion {
  const trust = { roots: [authority.trusted], policies: [] };
  return { imprint: stampedImprint, trust, at: judgedAt, ...changesFor(authority, changes) };
}

function changesFor<Options>(authority: TestAuthority, changes: Changes<Options>): Partial<Options> {
  return typeof changes === 'function' ? changes(authority) : changes;
}
