/** What the oracle throws: a promise of the service that did not hold, with the facts to look into. */

export class Violation extends Error {
  readonly facts: unknown[];

  constructor(message: string, facts: unknown[] = []) {
    super(message);
    this.name = 'Violation';
    this.facts = facts;
  }
}

/** Throws when there is anything in the list of those who break the rule. */
export function expectNone(message: string, offenders: unknown[]): void {
  if (offenders.length > 0) throw new Violation(`${message} (${offenders.length})`, offenders.slice(0, 10));
}
