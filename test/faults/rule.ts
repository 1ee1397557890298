/** The shape of a rule of the oracle: it throws a Violation when what it promises does not hold. */
import type { Fixture } from './fixture.ts';

export interface Rule {
  name: string;
  /** `restart`: after every fault, while the load rests. `end`: once, when everything has been delivered. */
  when: 'restart' | 'end';
  /** Left out where no chain can be had. */
  needsChain?: boolean;
  check(fixture: Fixture): Promise<void>;
}
