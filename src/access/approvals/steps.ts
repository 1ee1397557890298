/** The steps that can need a second person: which rule asks for one, and what both of them need. Named like their audit entries. */
import type { Db } from '../../db/database.ts';
import type { Write } from '../../db/writes.ts';
import { type Caller, isAtLeast, may, type Role, type Scope } from '../../runtime/caller.ts';

/** The rules of a workspace, each on or off. */
export const ruleNames = ['eraseContent', 'transfer', 'wideKeys'] as const;
export type RuleName = (typeof ruleNames)[number];

export interface StepKind {
  /** Null: needs a second person whatever the rules say, as far as it has an effect. */
  rule: RuleName | null;
  /** A further rule that asks for one, where the run says that it does what this rule is about. */
  also?: RuleName;
  /** Who asks needs it; keys must have it, people a role that does. Null: only people ask. */
  scope: Scope | null;
  /** The least role of both people; a run may ask for a higher one. */
  role: Role;
}

export const stepKinds = {
  'record.erase_data': ofScope('eraseContent', 'records:write'),
  'file.erase_content': ofScope('eraseContent', 'files:write'),
  'vault.set_retention': ofScope('eraseContent', 'vaults:write'),
  'file.transfer': { ...ofScope('transfer', 'files:write'), also: 'eraseContent' },
  'asset.transfer': ofScope('transfer', 'assets:write'),
  'api_key.create': ofScope('wideKeys', 'keys:write'),
  'approval_rules.change': { rule: null, scope: null, role: 'admin' },
} satisfies Record<string, StepKind>;

export type StepName = keyof typeof stepKinds;
export const stepNames = Object.keys(stepKinds) as StepName[];

function ofScope(rule: RuleName, scope: Scope): StepKind {
  return { rule, scope, role: 'developer' };
}

/** Whether this caller may take the step, as far as scope and role tell. */
export function mayTake(caller: Caller, step: StepName, role: Role): boolean {
  const { scope }: StepKind = stepKinds[step];
  if (caller.person && !isAtLeast(caller.person.role, role)) return false;
  return scope === null ? caller.person !== undefined : may(caller, scope);
}

/** What a step did, inside the transaction of its request or of its approval. */
export interface StepRun<Result> {
  result: Result;
  /** The thing that it is about; null: something new. */
  subjectId: string | null;
  /**
   * What it does, as JSON: shown to the second person, and compared when they approve. Null: nothing for which a second
   * person is needed.
   */
  effect: Record<string, unknown> | null;
  /** The answer to who asked, as JSON and without a secret. */
  answer: Record<string, unknown>;
  /** It also does what the further rule of the step is about. */
  isAlso?: boolean;
  /** A role above that of the step. */
  role?: Role;
  /** To be shown once, to who asked. */
  secret?: string;
  /** To be called after the commit. */
  settle?: () => Promise<void>;
}

/** The input has come through JSON. */
export type RunStep<Input, Result> = (db: Db, caller: Caller, input: Input) => Promise<StepRun<Result>>;

/** A request that waits for a second person. */
export interface Asked {
  id: string;
  expiresAt: Date;
}

export type Outcome<Result> = { done: Result; asked?: never } | { done?: never; asked: Asked };

/** Rows to commit with the step, or with the request for it: the answer for an Idempotency-Key. */
export interface Also<Result> {
  done(result: Result): Write[];
  asked(asked: Asked): Write[];
}

/** Takes the step, or asks for it. The input must survive JSON. */
export type TakeStep<Input, Result> = (
  caller: Caller,
  input: Input,
  also?: Also<Result>,
) => Promise<Outcome<Result>>;

/** Says how a step is taken; once for each, when the service is put together. */
export type DefineStep = <Input extends object, Result>(
  step: StepName,
  run: RunStep<Input, Result>,
) => TakeStep<Input, Result>;
